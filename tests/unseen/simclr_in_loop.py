# SPDX-License-Identifier: Apache-2.0
"""SimCLR: two views of each batch by torch's own operators, on the training thread."""

import torch, watched as own
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


def view(x):
    with own.row("own_update"):
        a = torch.rand(len(x)) * 0.5
        turn = torch.stack([a.cos(), -a.sin(), a * 0, a.sin(), a.cos(), a * 0], 1).view(-1, 2, 3)
        x = F.grid_sample(x, F.affine_grid(turn, x.shape))
        blur = torch.ones(3, 1, 9, 9) / 81
        x = F.conv2d(x, blur, padding=4, groups=3)
        return x * (0.8 + 0.4 * torch.rand(len(x), 1, 1, 1))


body = nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten()
net = nn.Sequential(*body, nn.Linear(128, 64))
opt = torch.optim.Adam(net.parameters())
for (x,) in DataLoader(TensorDataset(torch.rand(3200, 3, 64, 64)), 32):
    a, b = view(x), view(x)
    za, zb = F.normalize(net(a)), F.normalize(net(b))
    loss = F.cross_entropy(za @ zb.T / 0.1, torch.arange(len(x)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    own.step()
own.show(epochs=1, loose=["loss", "forward"])
