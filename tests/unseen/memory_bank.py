# SPDX-License-Identifier: Apache-2.0
"""Contrastive learning against a bank of old features; two views are made in the loop."""

import torch, watched as own
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

enc = nn.Sequential(
    nn.Conv2d(3, 32, 3, 2),
    nn.ReLU(),
    nn.Conv2d(32, 64, 3, 2),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(2),
    nn.Flatten(),
    nn.Linear(256, 64),
)
opt = torch.optim.SGD(enc.parameters(), 0.05, momentum=0.9)
bank = nn.functional.normalize(torch.randn(4096, 64), dim=1)
at = 0
for epoch in range(2):
    for (x,) in DataLoader(TensorDataset(torch.rand(960, 3, 48, 48)), 32, drop_last=True):
        with own.row("own_input"):
            a = x + 0.1 * torch.randn_like(x)
            b = torch.flip(x, [3]) * torch.rand(32, 1, 1, 1)
        qa, qb = (nn.functional.normalize(enc(v), dim=1) for v in (a, b))
        pos = (qa * qb).sum(1, keepdim=True)
        logits = torch.cat([pos, qa @ bank.T], 1) / 0.1
        loss = nn.functional.cross_entropy(logits, torch.zeros(32, dtype=torch.long))
        opt.zero_grad()
        loss.backward()
        opt.step()
        bank[at : at + 32] = qb.detach()
        at = (at + 32) % 4096
        own.step()
own.show(epochs=2, loose=["forward", "loss"])
