# SPDX-License-Identifier: Apache-2.0
"""A frozen base and small adapters; the optimizer has few weights."""

import torch, watched as own
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Lora(nn.Module):
    def __init__(self, base, r=8):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(base.in_features, r) * 0.01)
        self.b = nn.Parameter(torch.zeros(r, base.out_features))

    def forward(self, x):
        return self.base(x) + x @ self.a @ self.b


net = nn.Sequential(*[m for _ in range(6) for m in (Lora(nn.Linear(768, 768)), nn.GELU())])
opt = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad])
for epoch in range(3):
    for (x,) in DataLoader(TensorDataset(torch.randn(2560, 768)), 64):
        loss = (net(x) - x).abs().mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        own.step()
own.show(epochs=3)
