# SPDX-License-Identifier: Apache-2.0
"""A critic takes next(iter(loader)) with two workers for each of its steps."""

import torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(3200, 256)), 32, shuffle=True, num_workers=2)
net = mlp(256, 512, 1)
opt = torch.optim.RMSprop(net.parameters())
for step in range(60):
    (x,) = next(iter(loader))
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    own.step()
own.show(epochs=None)
