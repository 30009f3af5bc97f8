# SPDX-License-Identifier: Apache-2.0
"""L-BFGS with a closure on all of the data."""

import torch, watched as own
from sets import mlp

x = torch.linspace(-3, 3, 4000)[:, None]
y = torch.sin(3 * x) * x
net = torch.nn.Sequential(
    torch.nn.Linear(1, 96),
    torch.nn.Tanh(),
    torch.nn.Linear(96, 96),
    torch.nn.Tanh(),
    torch.nn.Linear(96, 1),
)
opt = torch.optim.LBFGS(
    net.parameters(), max_iter=10, history_size=20, line_search_fn="strong_wolfe"
)


def closure():
    opt.zero_grad()
    loss = (net(x) - y).pow(2).mean()
    loss.backward()
    return loss


for it in range(25):
    opt.step(closure)
    own.step()
own.show(
    epochs=None,
    loose=["forward", "backward", "optimizer", "zero_grad", "loss"],
    why=["compute-bound"],
)
