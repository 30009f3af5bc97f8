# SPDX-License-Identifier: Apache-2.0
"""A mean of losses keeps their graphs, and prints it each step; nothing else is slow."""

import torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

net = mlp(256, 512, 256, 10)
opt = torch.optim.Adam(net.parameters())
total = 0
for (x,) in DataLoader(TensorDataset(torch.randn(19200, 256)), 32):
    opt.zero_grad()
    loss = net(x).square().mean()
    loss.backward()
    opt.step()
    total = total + loss
    print(f"loss {total.item() / (1 + own.count['steps']):.4f}", flush=True)
    own.step()
own.show(epochs=1)
