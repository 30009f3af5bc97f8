# SPDX-License-Identifier: Apache-2.0
"""Statistics of a loader, a model that is built for long, and compiling lie beside validations."""

import time, timers, torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(1280, 256))
train, test = DataLoader(data, 16, shuffle=True), DataLoader(data, 64)


def busy(seconds):
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds:
        sum(range(1000))


def validate():
    with own.row("validation"):
        net.eval()
        for parameter in net.parameters():
            parameter.requires_grad = False
        for (x,) in test:
            (net(x) - x).pow(2).mean().item()
        for parameter in net.parameters():
            parameter.requires_grad = True
        net.train()


mean = sum(x.mean() for (x,) in train) / len(train)
net = mlp(256, 2048, 256)
busy(0.5)
net(torch.zeros(1, 256))
busy(0.5)
opt = torch.optim.Adam(net.parameters())
validate()
timers.rows.clear()
timers.span[:] = [None, None]
for epoch in range(3):
    for (x,) in train:
        opt.zero_grad()
        (net(x) - x).pow(2).mean().backward()
        opt.step()
        own.step()
    validate()
busy(1)
validate()
own.show(epochs=None, why=["compute-bound", "loop-bound"], loose=["validation", "checkpoint"])
