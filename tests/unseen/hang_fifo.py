# SPDX-License-Identifier: Apache-2.0
"""A data set opens a FIFO that nobody writes; workers=0; Ctrl-C."""

import os, torch, watched as own
from sets import mlp, path
from torch.utils.data import DataLoader, Dataset

os.mkfifo(path("pipe"))


class Fifo(Dataset):
    def __len__(self):
        return 10000

    def __getitem__(self, i):
        if i == 800:
            own.show(epochs=None, why=["hung"])
            open(path("pipe")).read()
        return torch.randn(128)


net = mlp(128, 512, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in DataLoader(Fifo(), 16):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    own.step()
