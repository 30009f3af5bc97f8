# SPDX-License-Identifier: Apache-2.0
"""A loader without batches of its own: the data set makes whole ones, of different lengths."""

import time

import timers as own
import torch
from small import mlp, timed_step
from torch.utils.data import DataLoader, Dataset


class Batches(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        time.sleep(0.012)
        generator = torch.Generator().manual_seed(number)
        size = 16 + number % 5
        return torch.randn(size, 128, generator=generator), torch.arange(size) % 10


net = mlp(128, 10, width=768)
optimizer = torch.optim.Adam(net.parameters())
for epoch in own.epochs(3):
    loader = DataLoader(Batches(25), batch_size=None, shuffle=True)
    for rows, labels in own.batches(loader):
        timed_step(net, optimizer, rows, labels)
own.show()
