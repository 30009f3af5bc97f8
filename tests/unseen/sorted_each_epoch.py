# SPDX-License-Identifier: Apache-2.0
"""A sampler sorts all lengths of texts again, by a Python key, at each epoch."""

import random, torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, Dataset, Sampler


class Bucket(Sampler):
    def __iter__(self):
        order = sorted(range(400000), key=lambda i: (hash((i, 7)) % 1000 + random.random(), i))
        return iter(order[:800])


class Texts(Dataset):
    def __len__(self):
        return 400000

    def __getitem__(self, i):
        return torch.full((128,), float(i))


net = mlp(128, 512, 1)
opt = torch.optim.Adam(net.parameters())
loader = DataLoader(Texts(), 16, sampler=Bucket())
for epoch in range(6):
    for x in loader:
        opt.zero_grad()
        net(x).mean().backward()
        opt.step()
        own.step()
own.show(epochs=6)
