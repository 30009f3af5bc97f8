# SPDX-License-Identifier: Apache-2.0
"""Private training: gradients of each sample by torch.func, clipped and noised by hand."""

import torch, watched as own
from sets import mlp
from torch.func import functional_call, grad, vmap
from torch.utils.data import DataLoader, TensorDataset

net = mlp(256, 256, 10)
opt = torch.optim.SGD(net.parameters(), 0.1)
weights = dict(net.named_parameters())


def loss(w, x, y):
    return torch.nn.functional.cross_entropy(functional_call(net, w, (x[None],)), y[None])


each = vmap(grad(loss), in_dims=(None, 0, 0))
data = TensorDataset(torch.randn(3200, 256), torch.randint(0, 10, (3200,)))
for x, y in DataLoader(data, 32):
    with own.row("backward"):
        grads = each({k: v.detach() for k, v in weights.items()}, x, y)
    with own.row("clip"):
        norm = sum(g.flatten(1).norm(dim=1) ** 2 for g in grads.values()).sqrt()
        scale = (1 / norm).clamp(max=1)
        for k, p in weights.items():
            p.grad = torch.einsum("b...,b->...", grads[k], scale) + 0.1 * torch.randn_like(p)
    opt.step()
    own.step()
own.show(epochs=1, loose=["forward", "backward"], why=["compute-bound", "loop-bound"])
