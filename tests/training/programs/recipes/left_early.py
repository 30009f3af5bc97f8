# SPDX-License-Identifier: Apache-2.0
"""A few batches of each loader an epoch: both are left early, and their workers end there."""

import timers as own
import torch
from small import ConvNet, Images, timed_step
from torch.utils.data import DataLoader

loader = DataLoader(Images(200 * 16, ms=0.5), batch_size=16, num_workers=2)
others = DataLoader(Images(200 * 16, ms=0.5), batch_size=32, num_workers=2)
net = ConvNet(width=32)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for epoch in own.epochs(5):
    with own.row("loader_wait"):
        batches = iter(loader)
    for number in range(20):
        with own.row("loader_wait"):
            images, labels = next(batches)
        timed_step(net, optimizer, images, labels)
    with own.row("loader_wait"):
        del batches
    with own.row("validation"), torch.no_grad():
        for number, (images, labels) in enumerate(others):
            net(images)
            if number == 4:
                break
own.show()
