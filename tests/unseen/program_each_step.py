# SPDX-License-Identifier: Apache-2.0
"""A program is started after each step, as people call nvidia-smi, and takes 25 ms."""

import subprocess, torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader

net = mlp(64, 256, 10)
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in DataLoader(torch.randn(2400, 64), 16):
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
    own.step()
    with own.row("own_update"):
        subprocess.run(["sh", "-c", "sleep 0.02; echo 41"], capture_output=True)
own.show(epochs=1, why=["loop-bound"], advises="another process")
