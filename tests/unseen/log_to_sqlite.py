# SPDX-License-Identifier: Apache-2.0
"""Commits each step's loss to a SQLite file (with its fsync)."""

import sqlite3, torch, watched as own
from torch.utils.data import DataLoader, TensorDataset
from sets import mlp, path

db = sqlite3.connect(path("log.db"))
db.execute("create table log (step integer, loss real)")
net = mlp(64, 256, 1)
opt = torch.optim.Adam(net.parameters())
for n, (x,) in enumerate(DataLoader(TensorDataset(torch.randn(3200, 64)), 16)):
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    db.execute("insert into log values (?, ?)", (n, loss.item()))
    db.commit()
    own.step()
own.show(epochs=1, advises="Call fsync every N steps")
