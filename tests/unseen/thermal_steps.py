# SPDX-License-Identifier: Apache-2.0
"""From the middle of the run on each tenth sample is huge; the loader has one worker."""

import torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, Dataset


class Late(Dataset):
    def __len__(self):
        return 6400

    def __getitem__(self, i):
        x = torch.randn(1_500_000 if i > 3200 and i % 10 == 0 else 256)
        return x[:256].clone()


net = mlp(256, 512, 512, 1)
opt = torch.optim.Adam(net.parameters())
for x in DataLoader(Late(), 32, num_workers=1):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    own.step()
own.show(epochs=1)
