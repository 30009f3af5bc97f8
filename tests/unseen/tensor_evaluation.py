# SPDX-License-Identifier: Apache-2.0
"""Evaluation on tensors in memory every ten steps, larger than the training."""

import torch, watched as own
from sets import mlp

X, V = torch.randn(20000, 128), torch.randn(4000, 128)
net = mlp(128, 512, 512, 1)
opt = torch.optim.Adam(net.parameters())
for n in range(400):
    idx = torch.randint(0, 20000, (64,))
    loss = net(X[idx]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    own.step()
    if n % 10 == 9:
        with torch.no_grad(), own.row("evaluation"):
            net(V).pow(2).mean().item()
own.show(epochs=None)
