# SPDX-License-Identifier: Apache-2.0
"""Hamiltonian sampling: gradients by autograd.grad, no optimizer and no loader."""

import torch, watched as own

x, y = torch.randn(20000, 100), torch.randn(20000)
w = torch.zeros(100)


def potential(w):
    return ((x @ w - y) ** 2).sum() / 2


for sample in range(120):
    p = torch.randn(100)
    for leap in range(10):
        w.requires_grad_(True)
        (g,) = torch.autograd.grad(potential(w), w)
        w = w.detach()
        p = p - 1e-4 * g
        w = w + 1e-4 * p
    own.count["steps"] += 0
own.show(epochs=None, why=["cannot-tell"])
