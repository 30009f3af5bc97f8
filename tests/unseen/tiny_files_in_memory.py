# SPDX-License-Identifier: Apache-2.0
"""A sample is 40 tiny text files of a folder, parsed one by one."""

import os, random, torch, watched as own
from sets import mlp, path
from torch.utils.data import DataLoader, Dataset

for n in range(2000):
    with open(path("f", f"{n}.txt"), "w") as file:
        file.write(" ".join(str(random.random()) for _ in range(8)))


class Tiny(Dataset):
    def __len__(self):
        return 1600

    def __getitem__(self, i):
        x = []
        for n in range(40):
            with open(path("f", f"{(i * 7 + n) % 2000}.txt")) as file:
                x += [float(v) for v in file.read().split()]
        return torch.tensor(x)


net = mlp(320, 256, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in DataLoader(Tiny(), 16):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    own.step()
own.show(epochs=1)
