# SPDX-License-Identifier: Apache-2.0
"""Saves many small weights by torch.distributed.checkpoint, and loads them again."""

import warnings

import timers as own
import torch
import torch.distributed.checkpoint as dcp
from small import Images, timed_step
from torch import nn
from torch.utils.data import DataLoader

warnings.simplefilter("ignore")  # there is no process group

layers = [layer for _ in range(60) for layer in (nn.Linear(32, 32), nn.ReLU())]
net = nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, 32), *layers, nn.Linear(32, 10))
optimizer = torch.optim.Adam(net.parameters())
loader = DataLoader(Images(30 * 16, 16), batch_size=16, shuffle=True)
number = 0
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        timed_step(net, optimizer, images, labels)
        number += 1
        if number % 10 == 0:
            with own.row("checkpoint"):
                dcp.save(net.state_dict(), checkpoint_id=f"step-{number}")
                dcp.load(net.state_dict(), checkpoint_id=f"step-{number}")
own.show()
