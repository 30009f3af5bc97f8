# SPDX-License-Identifier: Apache-2.0
"""A line of CSV is flushed and synced after each step."""

import os, torch, watched as own
from sets import mlp, path
from torch.utils.data import DataLoader, TensorDataset

net = mlp(64, 256, 1)
opt = torch.optim.Adam(net.parameters())
log = open(path("log.csv"), "w")
for (x,) in DataLoader(TensorDataset(torch.randn(16000, 64)), 16):
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    own.step()
    log.write(f"{own.count['steps']},{loss.item()}\n")
    log.flush()
    os.fsync(log.fileno())
own.show(epochs=1)
