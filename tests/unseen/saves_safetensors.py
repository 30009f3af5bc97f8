# SPDX-License-Identifier: Apache-2.0
"""Weights by safetensors and the optimizer's state by NumPy, every fourth step."""

import numpy as np, torch, watched as own
from safetensors.torch import save_file
from sets import mlp, path
from torch.utils.data import DataLoader, TensorDataset

net = mlp(1024, 1024, 1024, 10)
opt = torch.optim.Adam(net.parameters())
for (x,) in DataLoader(TensorDataset(torch.randn(2400, 1024)), 16):
    opt.zero_grad()
    net(x).square().mean().backward()
    opt.step()
    own.step()
    if own.count["steps"] % 4 == 0:
        with own.row("checkpoint"):
            save_file(net.state_dict(), path("w.safetensors"))
            states = [s[k].numpy() for s in opt.state.values() for k in ("exp_avg", "exp_avg_sq")]
            np.savez(path("o.npz"), *states)
own.show(epochs=1)
