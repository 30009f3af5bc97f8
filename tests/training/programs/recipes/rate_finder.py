# SPDX-License-Identifier: Apache-2.0
"""A range test of learning rates, the model's state restored, and then the training."""

import copy

import timers as own
import torch
from small import ConvNet, Images, timed_step
from torch.utils.data import DataLoader

net = ConvNet(width=16)
optimizer = torch.optim.AdamW(net.parameters(), 1e-6)
loader = DataLoader(Images(30 * 16, ms=0.1), batch_size=16, shuffle=True)
kept = copy.deepcopy(net.state_dict()), copy.deepcopy(optimizer.state_dict())
own.count["epochs"] += 1
for number, (images, labels) in enumerate(own.batches(loader)):
    for group in optimizer.param_groups:
        group["lr"] = 1e-6 * 10 ** (number / 5)
    timed_step(net, optimizer, images, labels)
net.load_state_dict(kept[0])
optimizer.load_state_dict(kept[1])
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        timed_step(net, optimizer, images, labels)
own.show()
