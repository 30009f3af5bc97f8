# SPDX-License-Identifier: Apache-2.0
"""Stochastic weight averaging: at the end a pass in train mode without backward renews norms."""

import timers as own
import torch
from small import ConvNet, Images, timed_step
from torch.optim import swa_utils
from torch.utils.data import DataLoader

net = ConvNet(width=16)
averaged = swa_utils.AveragedModel(net)
optimizer = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
schedule = swa_utils.SWALR(optimizer, swa_lr=0.01)
loader = DataLoader(Images(30 * 16), batch_size=16, shuffle=True)
for epoch in own.epochs(3):
    net.train()
    for images, labels in own.batches(loader):
        timed_step(net, optimizer, images, labels)
    if epoch:
        with own.row("bookkeeping"):
            averaged.update_parameters(net)
        schedule.step()
with own.row("validation"):
    swa_utils.update_bn(loader, averaged)
own.show(loose=["bookkeeping"])
