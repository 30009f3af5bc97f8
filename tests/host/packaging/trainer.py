# SPDX-License-Identifier: Apache-2.0
"""trainer.py [ROWS [WORKERS]]: a small training on the CPU. Each row reads data.bin once, if that
is there, and waits."""

import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 320
WORKERS = int(sys.argv[2]) if len(sys.argv) > 2 else 0


class Rows(Dataset):
    def __len__(self):
        return ROWS

    def __getitem__(self, i):
        time.sleep(0.002)
        if os.path.exists("data.bin"):
            with open("data.bin", "rb", buffering=0) as file:
                file.read(1000)
        return torch.full((16,), float(i)), i % 4


model = torch.nn.Linear(16, 4)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for rows, labels in DataLoader(Rows(), batch_size=8, num_workers=WORKERS):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(rows), labels).backward()
    optimizer.step()
