# SPDX-License-Identifier: Apache-2.0
"""A hook of the optimizer waits for 20 ms after each step, to let the machine cool."""

import time, torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

net = mlp(256, 512, 1)
opt = torch.optim.Adam(net.parameters())
opt.register_step_post_hook(lambda *a: time.sleep(0.02))
for (x,) in DataLoader(TensorDataset(torch.randn(6400, 256)), 32):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    own.step()
own.show(epochs=1, loose=["optimizer"], advises="sleep")
