# SPDX-License-Identifier: Apache-2.0
"""An iterable data set that its two workers share, and no length."""

import time

import timers as own
import torch
from small import mlp
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Lines(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        info = get_worker_info()
        for number in range(info.id if info else 0, self.count, info.num_workers if info else 1):
            time.sleep(0.003)
            yield torch.full((64,), float(number % 7)), number % 7


net = mlp(64, 7)
optimizer = torch.optim.Adam(net.parameters())
loader = DataLoader(Lines(1280), batch_size=32, num_workers=2)
for epoch in own.epochs(2):
    for rows, labels in own.batches(loader):
        with own.row("forward"):
            out = net(rows)
        with own.row("loss"):
            loss = torch.nn.functional.cross_entropy(out, labels)
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
own.show(says="of the work on them sleeps or waits")
