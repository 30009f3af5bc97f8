# SPDX-License-Identifier: Apache-2.0
"""Each step writes the batch and what the model made of it as a PNG."""

import torch, watched as own
from PIL import Image
from sets import path
from torch.utils.data import DataLoader, TensorDataset

first, last = (torch.nn.Conv2d(a, b, 3, padding=1) for a, b in ((3, 8), (8, 3)))
net = torch.nn.Sequential(first, torch.nn.ReLU(), last)
opt = torch.optim.Adam(net.parameters())
for (x,) in DataLoader(TensorDataset(torch.rand(1600, 3, 64, 64)), 16):
    opt.zero_grad()
    out = net(x)
    (out - x).square().mean().backward()
    opt.step()
    own.step()
    with own.row("own_update"):
        both = torch.cat([x, out.detach().clamp(0, 1)], 3)
        grid = (both.permute(0, 2, 1, 3) * 255).byte().reshape(16 * 64, 128 * 3).numpy()
        Image.fromarray(grid.reshape(16 * 64, 128, 3)).save(path(f"{own.count['steps']}.png"))
own.show(epochs=1)
