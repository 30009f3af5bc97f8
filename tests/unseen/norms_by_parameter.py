# SPDX-License-Identifier: Apache-2.0
"""The norm of each gradient and weight is read back one by one after each backward."""

import torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

net = mlp(64, *[32] * 60, 1)
opt = torch.optim.SGD(net.parameters(), 1e-6)
for (x,) in DataLoader(TensorDataset(torch.randn(9600, 64)), 32):
    opt.zero_grad()
    net(x).mean().backward()
    with own.row("own_update"):
        norms = {}
        for name, p in net.named_parameters():
            norms[name] = p.grad.norm().item(), p.norm().item(), p.grad.abs().max().item()
            norms[name + ".h"] = torch.histc(p.grad, 20, -1, 1).tolist()
    opt.step()
    own.step()
own.show(epochs=1)
