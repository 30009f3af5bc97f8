# SPDX-License-Identifier: Apache-2.0
"""One batch of validation after each step, by an iterator of its own."""

import timers as own
import torch
from small import ConvNet, Images, timed_step
from torch.utils.data import DataLoader

loader = DataLoader(Images(100 * 8, 16), batch_size=8, shuffle=True)
others = DataLoader(Images(400, 16), batch_size=64, shuffle=True)
net = ConvNet(width=16)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        timed_step(net, optimizer, images, labels)
        with own.row("validation"), torch.no_grad():
            images, labels = next(iter(others))
            net(images)
own.show()
