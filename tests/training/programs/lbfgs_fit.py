# SPDX-License-Identifier: Apache-2.0
"""A fit of a curve by LBFGS on all data at once: no loader, a closure."""

import timers as own
import torch
from small import mlp

net = mlp(2, 1, width=256)
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=10, line_search_fn="strong_wolfe")
x = torch.rand(2048, 2)
y = torch.sin(6 * x[:, :1]) * torch.cos(5 * x[:, 1:])


def closure():
    with own.row("zero_grad"):
        optimizer.zero_grad()
    with own.row("forward"):
        out = net(x)
    with own.row("loss"):
        loss = torch.mean((out - y) ** 2)
    with own.row("backward"):
        loss.backward()
    return loss


for _ in range(12):
    with own.row("optimizer"):
        optimizer.step(closure)
    own.step()
own.show(epochs=None)
