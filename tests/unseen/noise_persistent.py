# SPDX-License-Identifier: Apache-2.0
"""Workers that stay draw big arrays of noise by NumPy for each sample."""

import numpy as np, torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __len__(self):
        return 600

    def __getitem__(self, i):
        x = np.random.standard_normal((512, 512)).astype("f4") * 0.1
        return x.mean(0) + i


net = mlp(512, 256, 1)
opt = torch.optim.Adam(net.parameters())
loader = DataLoader(Noisy(), 8, num_workers=1, persistent_workers=True)
for epoch in range(3):
    for x in loader:
        opt.zero_grad()
        net(x).mean().backward()
        opt.step()
        own.step()
own.show(epochs=3)
