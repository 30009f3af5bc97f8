# SPDX-License-Identifier: Apache-2.0
"""A checkpoint in nearly each step, written beside the last one and renamed over it."""

import os, torch, watched as own
from sets import mlp, path
from torch.utils.data import DataLoader

net = mlp(512, 1024, 512)
opt = torch.optim.AdamW(net.parameters())
for n, x in enumerate(DataLoader(torch.randn(1280, 512), 16)):
    opt.zero_grad()
    (net(x) - x).pow(2).mean().backward()
    opt.step()
    own.step()
    if n % 40:
        with own.row("checkpoint"):
            torch.save({"net": net.state_dict(), "opt": opt.state_dict()}, path("last.tmp"))
            os.replace(path("last.tmp"), path("last.pt"))
own.show(epochs=1)
