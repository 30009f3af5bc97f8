# SPDX-License-Identifier: Apache-2.0
"""The loop sleeps a second after each hundred steps, to keep the laptop cool."""

import time, torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

net = mlp(128, 512, 512, 1)
opt = torch.optim.Adam(net.parameters())
for n, (x,) in enumerate(DataLoader(TensorDataset(torch.randn(16000, 128)), 32)):
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    own.step()
    if n % 100 == 99:
        time.sleep(1)
own.show(epochs=1)
