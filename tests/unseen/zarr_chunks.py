# SPDX-License-Identifier: Apache-2.0
"""A zarr array whose chunks are far larger than a sample."""

import numpy, torch, watched as own, zarr
from sets import mlp, noise, path
from torch.utils.data import DataLoader, Dataset

array = zarr.open(path("z.zarr"), mode="w", shape=(2000, 512), chunks=(500, 512), dtype="f4")
array[:] = noise(2000, 512)


class Zarr(Dataset):
    def __init__(self):
        self.a = zarr.open(path("z.zarr"), mode="r")

    def __len__(self):
        return self.a.shape[0]

    def __getitem__(self, i):
        return torch.from_numpy(numpy.asarray(self.a[i]))


m = mlp(512, 512, 512, 1)
o = torch.optim.Adam(m.parameters())
for x in DataLoader(Zarr(), batch_size=16, shuffle=True):
    l = m(x).square().mean()
    o.zero_grad()
    l.backward()
    o.step()
    own.step()
own.show(epochs=1)
