# SPDX-License-Identifier: Apache-2.0
"""Learning to learn: inner steps by autograd.grad, one outer step for each batch of tasks."""

import timers as own
import torch
from small import mlp
from torch.func import functional_call

torch.set_num_threads(1)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = mlp(1, 1, 128, 2)

    def forward(self, x):
        with own.row("forward"):
            return self.body(x)


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)


def task():
    phase, x = torch.rand(1) * 3, torch.rand(64, 1) * 10 - 5
    return x, torch.sin(x + phase)


for _ in range(30):
    with own.row("zero_grad"):
        optimizer.zero_grad()
    total = 0
    for _ in range(4):
        x, y = task()
        weights = dict(net.named_parameters())
        for _ in range(2):
            with own.row("loss"):
                out = functional_call(net, weights, (x,))
                loss = ((out - y) ** 2).mean()
            with own.row("backward"):
                gradients = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
            with own.row("own_update"):
                weights = {n: w - 0.01 * g for (n, w), g in zip(weights.items(), gradients)}
        x, y = task()
        with own.row("loss"):
            out = functional_call(net, weights, (x,))
            total = total + ((out - y) ** 2).mean()
    with own.row("backward"):
        total.backward()
    with own.row("optimizer"):
        optimizer.step()
    own.step()
own.show(epochs=None)
