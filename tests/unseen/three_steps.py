# SPDX-License-Identifier: Apache-2.0
"""A smoke test of three steps."""

import torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

net = mlp(64, 64, 2)
opt = torch.optim.Adam(net.parameters())
for i, (x,) in enumerate(DataLoader(TensorDataset(torch.randn(1000, 64)), 16, num_workers=1)):
    if i == 3:
        break
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    own.step()
own.show(epochs=None, loose=["loader_wait"], why=["too-few-steps"])
