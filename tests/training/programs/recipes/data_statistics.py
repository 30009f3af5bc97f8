# SPDX-License-Identifier: Apache-2.0
"""The mean of the data by a pass ahead of training; a test at the end."""

import timers as own
import torch
from small import ConvNet, Images, timed_step
from torch.utils.data import DataLoader

loader = DataLoader(Images(24 * 16, ms=1), batch_size=16, num_workers=2)
means = [images.mean() for images, _ in loader]
shift = float(sum(means) / len(means))
net = ConvNet(width=32)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        timed_step(net, optimizer, images - shift, labels)
with own.row("validation"), torch.no_grad():
    for images, labels in loader:
        net(images - shift)
own.show()
