# SPDX-License-Identifier: Apache-2.0
"""A loop that spends its time on its own statistics after each step."""

import timers as own
import torch
from small import ConvNet, Images
from torch.utils.data import DataLoader

net = ConvNet(width=8)
optimizer = torch.optim.Adam(net.parameters())
loader = DataLoader(Images(25 * 16), batch_size=16)
history = []
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
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
        for name, parameter in net.named_parameters():
            for _ in range(6):
                counts = torch.histc(parameter.detach(), 64)
                history.append((name, counts.tolist(), parameter.grad.norm().item()))
own.show()
