# SPDX-License-Identifier: Apache-2.0
"""gc.collect() after each step, beside many live objects."""

import gc, torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

keep = [{"n": n, "w": [n]} for n in range(150000)]
net = mlp(64, 512, 512, 1)
opt = torch.optim.Adam(net.parameters())
for (x,) in DataLoader(TensorDataset(torch.randn(6400, 64)), 64):
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    own.step()
    del loss
    gc.collect()
own.show(epochs=1)
