# SPDX-License-Identifier: Apache-2.0
"""The sampler makes 3 million indices for each epoch, of which 80 batches are trained."""

import torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, Dataset, RandomSampler


class Many(Dataset):
    def __len__(self):
        return 3_000_000

    def __getitem__(self, i):
        return torch.full((256,), float(i % 7))


net = mlp(256, 1024, 1024, 10)
opt = torch.optim.SGD(net.parameters(), 0.01)
loader = DataLoader(
    Many(), 32, num_workers=1, sampler=RandomSampler(Many()), persistent_workers=True
)
for epoch in range(4):
    for n, x in zip(range(80), loader):
        opt.zero_grad()
        net(x).pow(2).mean().backward()
        opt.step()
        own.step()
own.show(epochs=None, advises="ndices")
