# SPDX-License-Identifier: Apache-2.0
"""Each 20 steps a second model of averaged weights is made by deepcopy and evaluated."""

import copy, torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

net = mlp(256, 512, 512, 10)
opt = torch.optim.Adam(net.parameters())
test = DataLoader(TensorDataset(torch.randn(3200, 256)), 64)
for (x,) in DataLoader(TensorDataset(torch.randn(9600, 256)), 32):
    opt.zero_grad()
    net(x).square().mean().backward()
    opt.step()
    own.step()
    if own.count["steps"] % 20 == 0:
        with own.row("validation"):
            other = copy.deepcopy(net).eval()
            with torch.no_grad():
                sum(other(batch).square().mean().item() for (batch,) in test)
own.show(epochs=1, loose=["loader_wait"])
