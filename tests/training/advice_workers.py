# SPDX-License-Identifier: Apache-2.0
"""Trains with sleeps of known length.

A batch takes 40 ms and a step 20 ms. WORKERS: number of workers of the loader.
"""

import os
import time

import torch

STEPS = 30


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 2 * STEPS

    def __getitem__(self, index):
        time.sleep(0.020)
        return torch.full((8,), float(index))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 2)

    def forward(self, rows):
        time.sleep(0.020)
        return self.layer(rows)


torch.set_num_threads(1)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(Rows(), batch_size=2, num_workers=int(os.environ["WORKERS"]))
for rows in loader:
    loss = net(rows).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
