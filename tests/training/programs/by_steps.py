# SPDX-License-Identifier: Apache-2.0
"""Training by steps: the loader begins again where it ends; evaluation on the way."""

import timers as own
import torch
from small import ConvNet, Images
from torch.utils.data import DataLoader

net = ConvNet()
optimizer = torch.optim.AdamW(net.parameters())
train, valid = (DataLoader(Images(n * 16), batch_size=16) for n in (22, 10))
with own.row("loader_wait"):
    iterator = iter(train)
own.count["epochs"] = 1
for number in range(1, 61):
    try:
        with own.row("loader_wait"):
            images, labels = next(iterator)
    except StopIteration:
        with own.row("loader_wait"):
            iterator = iter(train)
            images, labels = next(iterator)
        own.count["epochs"] += 1
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
    if number % 15 == 0:
        net.eval()
        with own.row("validation"), torch.no_grad():
            for images, labels in valid:
                net(images)
        net.train()
        with own.row("checkpoint"):
            torch.save(net.state_dict(), "last.pt")
own.show()
