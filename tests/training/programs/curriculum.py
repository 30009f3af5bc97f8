# SPDX-License-Identifier: Apache-2.0
"""Three loaders of growing difficulty one after the other, then two of them zipped."""

import timers as own
import torch
from small import ConvNet, Images
from torch.nn import functional as F
from torch.utils.data import DataLoader

net = ConvNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


def train(images, labels):
    with own.row("forward"):
        out = net(images)
    with own.row("loss"):
        loss = F.cross_entropy(out, labels)
    with own.row("zero_grad"):
        optimizer.zero_grad()
    with own.row("backward"):
        loss.backward()
    with own.row("optimizer"):
        optimizer.step()
    own.step()


loaders = [
    DataLoader(Images(16 * n, size), batch_size=16) for n, size in ((20, 16), (20, 24), (16, 32))
]
for loader in loaders:
    own.count["epochs"] += 1
    for images, labels in own.batches(loader):
        train(images, labels)
for epoch in own.epochs(2):
    for easy, hard in zip(own.batches(loaders[1]), own.batches(loaders[2])):
        images = torch.cat([F.interpolate(easy[0], 32), hard[0]])
        train(images, torch.cat([easy[1], hard[1]]))
own.show()
