# SPDX-License-Identifier: Apache-2.0
"""Twenty epochs of a small data set; two workers start again in each."""

import torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

net = mlp(64, 256, 2)
opt = torch.optim.Adam(net.parameters())
loader = DataLoader(TensorDataset(torch.randn(640, 64)), 32, num_workers=2)
for epoch in range(20):
    for (x,) in loader:
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        own.step()
own.show(epochs=20)
