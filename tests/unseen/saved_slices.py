# SPDX-License-Identifier: Apache-2.0
"""A sample is a slice that was saved with its whole storage: 6.4 MB for 1 KB of tensor."""

import torch
from sets import mlp, path
from torch.utils.data import DataLoader, Dataset

big = torch.randn(40, 40000)
for n in range(40):
    torch.save(big[n, :256], path(f"{n}.pt"))

import watched as own  # these saves are no checkpoints


class Slices(Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, i):
        return torch.load(path(f"{i % 40}.pt"))


net = mlp(256, 512, 10)
opt = torch.optim.SGD(net.parameters(), 0.01)
for x in DataLoader(Slices(), 16, num_workers=1):
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
    own.step()
own.show(epochs=1, why=["input-bound", "storage-bound", "cpu-oversubscribed"])
