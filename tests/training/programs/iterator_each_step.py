# SPDX-License-Identifier: Apache-2.0
"""A new iterator, with new workers, for each step: next(iter(loader)), a common mistake."""

import timers as own
import torch
from small import ConvNet, Images
from torch.utils.data import DataLoader

net = ConvNet(width=8)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loader = DataLoader(Images(64 * 16), batch_size=16, shuffle=True, num_workers=2)
for number in range(24):
    with own.row("loader_wait"):
        images, labels = next(iter(loader))
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
own.show(epochs=None)
