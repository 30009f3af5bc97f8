# SPDX-License-Identifier: Apache-2.0
"""A batch sampler that ranks all samples again for each batch, in the training process."""

import numpy as np
import timers as own
import torch
from small import ConvNet, Images, timed_step
from torch.utils.data import DataLoader, Sampler


class Hardest(Sampler):
    def __init__(self, count, size):
        self.count, self.size = count, size
        self.weights = np.random.default_rng(0).random(400000)

    def __len__(self):
        return self.count // self.size

    def __iter__(self):
        for number in range(len(self)):
            begin = own.now()
            order = np.argsort(np.sin(self.weights + number))[: self.size]
            batch = [int(at) % self.count for at in order]
            own.add(own.beside, "sampler", own.now() - begin)
            yield batch


net = ConvNet(width=16)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
loader = DataLoader(Images(30 * 16), batch_sampler=Hardest(30 * 16, 16), num_workers=1)
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        timed_step(net, optimizer, images, labels)
own.show()
