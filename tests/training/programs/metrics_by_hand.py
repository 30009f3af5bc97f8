# SPDX-License-Identifier: Apache-2.0
"""A loop that spends its time on its own statistics after each step."""

import timers as own
import torch
from small import ConvNet, Images, timed_step
from torch.utils.data import DataLoader

net = ConvNet(width=8)
optimizer = torch.optim.Adam(net.parameters())
loader = DataLoader(Images(25 * 16), batch_size=16)
history = []
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        timed_step(net, optimizer, images, labels)
        for name, parameter in net.named_parameters():
            for _ in range(6):
                counts = torch.histc(parameter.detach(), 64)
                history.append((name, counts.tolist(), parameter.grad.norm().item()))
own.show()
