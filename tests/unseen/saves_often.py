# SPDX-License-Identifier: Apache-2.0
"""Weights and the optimizer's state saved every five steps, and the older files removed."""

import os, torch, watched as own
from sets import mlp, path
from torch.utils.data import DataLoader, TensorDataset

net = mlp(1024, 2048, 2048, 10)
opt = torch.optim.Adam(net.parameters())
step = 0
for epoch in range(1):
    for x, y in DataLoader(
        TensorDataset(torch.randn(1920, 1024), torch.randint(0, 10, (1920,))), 16
    ):
        loss = torch.nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        own.step()
        step += 1
        if step % 5 == 0:
            torch.save({"model": net.state_dict(), "opt": opt.state_dict()}, path(f"{step}.pt"))
            old = path(f"{step - 10}.pt")
            if os.path.exists(old):
                os.remove(old)
own.show(epochs=1)
