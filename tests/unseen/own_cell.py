# SPDX-License-Identifier: Apache-2.0
"""A recurrent cell in a Python loop over time: many small operators."""

import torch, watched as own
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Cell(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.i, self.h, self.o = nn.Linear(16, 4 * d), nn.Linear(d, 4 * d), nn.Linear(d, 1)
        self.d = d

    def forward(self, x):
        h = c = x.new_zeros(len(x), self.d)
        for t in range(x.shape[1]):
            i, f, g, o = (self.i(x[:, t]) + self.h(h)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return self.o(h)


net = Cell()
opt = torch.optim.Adam(net.parameters())
for x, y in DataLoader(TensorDataset(torch.randn(3200, 60, 16), torch.randn(3200, 1)), 16):
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    own.step()
own.show(epochs=1)
