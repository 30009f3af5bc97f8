# SPDX-License-Identifier: Apache-2.0
"""Batches are asked for one ahead, as prefetchers to a device do: for training and validation."""

import timers as own
import torch
from small import ConvNet, Images
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
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("forward"):
            out = net(images)
        with own.row("loss"):
            loss = torch.nn.functional.cross_entropy(out, labels)
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
    net.eval()
    with own.row("validation"), torch.no_grad():
        for images, labels in ahead(valid):
            net(images)
own.show()
