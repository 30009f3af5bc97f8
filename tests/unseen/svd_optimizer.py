# SPDX-License-Identifier: Apache-2.0
"""An optimizer of the program's own makes each gradient orthogonal by its SVD."""

import torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset


class Orthogonal(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.01})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                g = p.grad
                if g.ndim == 2:
                    u, _, v = torch.linalg.svd(g, full_matrices=False)
                    g = u @ v
                p -= group["lr"] * g


net = mlp(128, 128, 128, 10)
opt = Orthogonal(net.parameters())
for (x,) in DataLoader(TensorDataset(torch.randn(9600, 128)), 32):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    own.step()
own.show(epochs=1)
