# SPDX-License-Identifier: Apache-2.0
"""A compiled model whose last batches have another shape: it is compiled once more, late."""

import torch
import watched as own
from torch import nn

model = torch.compile(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4)), dynamic=False)
opt = torch.optim.SGD(model.parameters(), 0.01)
for i in range(60):
    x = torch.randn(32 if i < 45 else 48, 64)
    loss = model(x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    own.step()
own.show(epochs=None, why=["compile-bound"], loose=["forward", "loss"])
