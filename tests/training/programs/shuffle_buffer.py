# SPDX-License-Identifier: Apache-2.0
"""An iterable dataset with a shuffling buffer that is filled before the first sample comes."""

import random
import time

import numpy as np
import timers as own
import torch
from small import ConvNet, timed_step
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __init__(self, count, buffer):
        self.count, self.buffer = count, buffer

    def samples(self):
        generator = np.random.default_rng(0)
        for number in range(self.count):
            time.sleep(0.0015)
            yield torch.from_numpy(generator.standard_normal((3, 32, 32), dtype=np.float32)), (
                number % 10
            )

    def __iter__(self):
        held = []
        for sample in self.samples():
            if len(held) < self.buffer:
                held.append(sample)
                continue
            place = random.randrange(self.buffer)
            held[place], sample = sample, held[place]
            yield sample
        random.shuffle(held)
        yield from held


net = ConvNet(width=24)
optimizer = torch.optim.Adam(net.parameters())
loader = DataLoader(Stream(40 * 16, 200), batch_size=16)
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        timed_step(net, optimizer, images, labels)
own.show()
