# SPDX-License-Identifier: Apache-2.0
"""Two epochs with two workers that read files; with an argument, epochs without end."""

import itertools
import os
import sys

import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        with open(f"row {index % 4}.bin", "rb") as file:
            return torch.tensor(list(file.read(64)), dtype=torch.float), index % 2


def main():
    for i in range(4):
        with open(f"row {i}.bin", "wb") as file:
            file.write(os.urandom(4096))
    model = torch.nn.Linear(64, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Rows(), batch_size=4, num_workers=2)
    for epoch in range(2) if len(sys.argv) == 1 else itertools.count():
        for rows, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(rows), labels).backward()
            optimizer.step()
        print("epoch", epoch, flush=True)


main()
