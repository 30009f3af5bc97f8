# SPDX-License-Identifier: Apache-2.0
"""A network that solves a differential equation: first Adam, then LBFGS with a strong search."""

import timers as own
import torch
from small import mlp

torch.set_num_threads(1)
torch.manual_seed(0)
net = mlp(1, 1, 192, 3)
places = torch.linspace(0, 1, 256)[:, None].requires_grad_()


def lost(optimizer):
    with own.row("zero_grad"):
        optimizer.zero_grad()
    with own.row("forward"):
        u = torch.tanh(net(places))
    with own.row("backward"):
        slope = torch.autograd.grad(u.sum(), places, create_graph=True)[0]
    with own.row("loss"):
        loss = ((slope + u - torch.sin(places)) ** 2).mean() + u[0, 0] ** 2
    with own.row("backward"):
        loss.backward()
    return loss


first = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(60):
    lost(first)
    with own.row("optimizer"):
        first.step()
    own.step()
second = torch.optim.LBFGS(net.parameters(), max_iter=10, line_search_fn="strong_wolfe")
for _ in range(12):
    with own.row("optimizer"):
        second.step(lambda: lost(second))
    own.step()
own.show(epochs=None)
