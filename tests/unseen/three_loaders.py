# SPDX-License-Identifier: Apache-2.0
"""A mixture: three loaders are zipped, and the data set of one sleeps."""

import time, torch, watched as own
from torch.utils.data import DataLoader, Dataset
from sets import mlp


class Quick(Dataset):
    def __len__(self):
        return 800

    def __getitem__(self, i):
        return torch.randn(64)


class Slow(Quick):
    def __getitem__(self, i):
        time.sleep(0.004)
        return torch.randn(64)


net = mlp(64, 256, 256, 1)
opt = torch.optim.Adam(net.parameters())
loaders = [DataLoader(d, 8, num_workers=1) for d in (Quick(), Slow(), Quick())]
for a, b, c in zip(*loaders):
    opt.zero_grad()
    net(torch.cat([a, b, c])).pow(2).mean().backward()
    opt.step()
    own.step()
own.show(epochs=None, advises="Look in the dataset for sleeps")
