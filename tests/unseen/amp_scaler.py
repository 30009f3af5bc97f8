# SPDX-License-Identifier: Apache-2.0
"""Autocast to bfloat16 on the CPU with a gradient scaler, as on a laptop."""

import torch, watched as own
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

net = nn.Sequential(
    nn.Conv2d(1, 32, 3),
    nn.ReLU(),
    nn.Conv2d(32, 64, 3),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(64 * 144, 10),
)
opt = torch.optim.Adadelta(net.parameters())
scaler = torch.amp.GradScaler("cpu")
data = TensorDataset(torch.randn(1200, 1, 28, 28), torch.randint(0, 10, (1200,)))
for epoch in range(1):
    for x, y in DataLoader(data, 24, shuffle=True):
        opt.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = nn.functional.cross_entropy(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        own.step()
own.show(epochs=1)
