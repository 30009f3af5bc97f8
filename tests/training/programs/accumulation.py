# SPDX-License-Identifier: Apache-2.0
"""Gradients of four batches, clipped, then a step of optimizer and schedule."""

import timers as own
import torch
from small import ConvNet, Images
from torch.utils.data import DataLoader

accumulate = 4
net = ConvNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100)
loader = DataLoader(Images(42 * 16), batch_size=16, shuffle=True, drop_last=True)
for epoch in own.epochs(3):
    for number, (images, labels) in enumerate(own.batches(loader)):
        with own.row("forward"):
            out = net(images)
        with own.row("loss"):
            loss = torch.nn.functional.cross_entropy(out, labels) / accumulate
        with own.row("backward"):
            loss.backward()
        if (number + 1) % accumulate == 0 or number + 1 == len(loader):
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            with own.row("optimizer"):
                optimizer.step()
            schedule.step()
            with own.row("zero_grad"):
                optimizer.zero_grad(set_to_none=True)
            own.step()
own.show()
