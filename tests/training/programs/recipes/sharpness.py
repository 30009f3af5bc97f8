# SPDX-License-Identifier: Apache-2.0
"""Sharpness-aware minimisation: an optimizer with two steps of its own names, two backwards."""

import timers as own
import torch
from small import ConvNet, Images
from torch.nn import functional as F
from torch.utils.data import DataLoader


class Sharpness(torch.optim.Optimizer):
    def __init__(self, parameters, base, rho=0.05, **names):
        super().__init__(parameters, {"rho": rho, **names})
        self.base = base(self.param_groups, **names)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def climb(self):
        weights = [w for group in self.param_groups for w in group["params"]]
        norm = torch.stack([w.grad.norm() for w in weights]).norm()
        for w in weights:
            self.state[w]["old"] = w.clone()
            w.add_(w.grad * (0.05 / (norm + 1e-12)))
        self.zero_grad()

    @torch.no_grad()
    def descend(self):
        for group in self.param_groups:
            for w in group["params"]:
                w.data = self.state[w]["old"]
        self.base.step()
        self.zero_grad()


net = ConvNet(width=24)
optimizer = Sharpness(net.parameters(), torch.optim.SGD, lr=0.05, momentum=0.9)
own.patch(torch.optim.SGD, "step", "optimizer")
own.patch(torch.optim.Optimizer, "zero_grad", "zero_grad")
loader = DataLoader(Images(30 * 16), batch_size=16, shuffle=True)
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        for change in (optimizer.climb, optimizer.descend):
            with own.row("forward"):
                out = net(images)
            with own.row("loss"):
                loss = F.cross_entropy(out, labels)
            with own.row("backward"):
                loss.backward()
            with own.row("optimizer"):
                change()
        own.step()
own.show()
