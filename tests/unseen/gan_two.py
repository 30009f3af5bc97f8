# SPDX-License-Identifier: Apache-2.0
"""A GAN whose critic is stepped first, both losses by hinge, data in memory."""

import torch, watched as own
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

G = nn.Sequential(nn.Linear(64, 512), nn.LeakyReLU(0.2), nn.Linear(512, 1024), nn.Tanh())
D = nn.Sequential(nn.Linear(1024, 512), nn.LeakyReLU(0.2), nn.Linear(512, 1))
og, od = (torch.optim.Adam(m.parameters(), 2e-4, betas=(0.5, 0.9)) for m in (G, D))
loader = DataLoader(TensorDataset(torch.randn(6400, 1024)), 64, shuffle=True, drop_last=True)
for epoch in range(4):
    for (real,) in loader:
        z = torch.randn(64, 64)
        with torch.no_grad(), own.row("forward"):
            fake = G(z)
        d = torch.relu(1 - D(real)).mean() + torch.relu(1 + D(fake)).mean()
        od.zero_grad()
        d.backward()
        od.step()
        g = -D(G(torch.randn(64, 64))).mean()
        og.zero_grad()
        g.backward()
        og.step()
        own.step()
own.show(epochs=4, loose=["forward", "evaluation", "loss"])
