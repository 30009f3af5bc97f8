# SPDX-License-Identifier: Apache-2.0
"""Two views of each picture, an optimizer of the program's own, and a linear probe at the end."""

import timers as own
import torch
from small import Images, conv
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader


class Views(Images):
    def __getitem__(self, index):
        image, label = super().__getitem__(index)
        return image.flip(2), image + 0.1 * torch.randn_like(image), label


class Layerwise(torch.optim.Optimizer):
    def __init__(self, parameters, rate):
        super().__init__(parameters, {"lr": rate})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for w in group["params"]:
                trust = w.norm() / (w.grad.norm() + 1e-9)
                w.add_(w.grad, alpha=-group["lr"] * float(trust.clamp(max=10)))


net = conv(64, 24)
optimizer = Layerwise(net.parameters(), 0.01)
loader = DataLoader(Views(25 * 16), batch_size=16, shuffle=True, drop_last=True)
for epoch in own.epochs(2):
    for a, b, _ in own.batches(loader):
        with own.row("forward"):
            out = net(torch.cat([a, b]))
        with own.row("loss"):
            out = F.normalize(out)
            near = out @ out.T / 0.5 - 1e9 * torch.eye(len(out))
            loss = F.cross_entropy(near, torch.arange(len(out)).roll(16))
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
net.eval()
probe = nn.Linear(64, 10)
optimizer = torch.optim.SGD(probe.parameters(), 0.1)
for epoch in own.epochs(1):
    for _, b, labels in own.batches(loader):
        with torch.no_grad(), own.row("forward"):
            features = net(b)
        with own.row("forward"):
            out = probe(features)
        with own.row("loss"):
            loss = F.cross_entropy(out, labels)
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
own.show()
