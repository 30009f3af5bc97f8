# SPDX-License-Identifier: Apache-2.0
"""Batches are asked for one ahead, as prefetchers to a device do: for training and validation."""

import timers as own
import torch
from small import ConvNet, Images, timed_step
from torch.utils.data import DataLoader


def ahead(source):
    iterator = iter(source)
    batch = next(iterator)
    for following in iterator:
        yield batch
        batch = following
    yield batch


net = ConvNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
train, valid = (DataLoader(Images(n * 16), batch_size=16) for n in (20, 4))
for epoch in own.epochs(3):
    net.train()
    for images, labels in own.batches(ahead(train)):
        timed_step(net, optimizer, images, labels)
    net.eval()
    with own.row("validation"), torch.no_grad():
        for images, labels in ahead(valid):
            net(images)
own.show()
