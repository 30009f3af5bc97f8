# SPDX-License-Identifier: Apache-2.0
"""An average of the weights after each step, by hand as most repositories do it."""

import copy

import timers as own
import torch
from small import ConvNet, Images
from torch.utils.data import DataLoader


class Average:
    def __init__(self, model, decay=0.999):
        self.module = copy.deepcopy(model).eval()
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for mine, theirs in zip(self.module.state_dict().values(), model.state_dict().values()):
            if mine.dtype.is_floating_point:
                mine.mul_(self.decay).add_(theirs, alpha=1 - self.decay)


net = ConvNet()
average = Average(net)
optimizer = torch.optim.AdamW(net.parameters())
train, valid = (DataLoader(Images(n * 32), batch_size=32) for n in (30, 6))
for epoch in own.epochs(2):
    net.train()
    for images, labels in own.batches(train):
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
        average.update(net)
        own.step()
    with own.row("validation"), torch.no_grad():
        right = 0
        for images, labels in valid:
            right += (average.module(images).argmax(1) == labels).sum().item()
    with own.row("checkpoint"):
        torch.save({"model": net.state_dict(), "average": average.module.state_dict()}, "last.pt")
own.show()
