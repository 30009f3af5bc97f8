# SPDX-License-Identifier: Apache-2.0
"""torch.compile without options, on a model of some layers."""

import torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

net = mlp(128, 512, 512, 10)
fast = torch.compile(net)
opt = torch.optim.Adam(net.parameters())
for x, y in DataLoader(TensorDataset(torch.randn(9600, 128), torch.randint(0, 10, (9600,))), 32):
    loss = torch.nn.functional.cross_entropy(fast(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    own.step()
own.show(epochs=1, loose=["forward", "backward", "loss", "compile"], why=["compile-bound"])
