# SPDX-License-Identifier: Apache-2.0
"""A dataset draws again until a crop has an object, and one image has none."""

import sys, numpy as np, torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __len__(self):
        return 3200

    def __getitem__(self, i):
        mask = np.zeros((64, 64))
        mask[:32] = i != 1600
        while True:
            at = np.random.randint(0, 48, 2)
            crop = mask[at[0] : at[0] + 16, at[1] : at[1] + 16]
            if crop.any():
                return torch.from_numpy(crop.astype("f4")).flatten()


net = mlp(256, 512, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
try:
    for x in DataLoader(Crops(), 32, num_workers=1):
        opt.zero_grad()
        net(x).mean().backward()
        opt.step()
        own.step()
        if own.count["steps"] == 50:
            own.show(epochs=None, why=["hung"])
except KeyboardInterrupt:
    sys.exit(1)
