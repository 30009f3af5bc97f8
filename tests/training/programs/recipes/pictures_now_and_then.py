# SPDX-License-Identifier: Apache-2.0
"""A batch of test images every few steps, by an iterator of its own. The network is called for it
twice, with gradients that nobody asks for, as generators of images draw their samples."""

import timers as own
import torch
from small import ConvNet, Images, timed_step
from torch.utils.data import DataLoader

loader = DataLoader(Images(60 * 8, 16), batch_size=8, shuffle=True)
others = DataLoader(Images(400, 16), batch_size=64, shuffle=True)
net = ConvNet(width=16)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for epoch in own.epochs(2):
    for number, (images, labels) in enumerate(own.batches(loader)):
        timed_step(net, optimizer, images, labels)
        if number % 5 == 4:
            with own.row("validation"):
                images, labels = next(iter(others))
                net(images), net(images.flip(3))
own.show()
