# SPDX-License-Identifier: Apache-2.0
"""Copies the data set to a scratch folder at the begin of each epoch, as on a cluster."""

import numpy, os, shutil, torch, watched as own
from torch.utils.data import DataLoader, Dataset
from sets import mlp, path

for n in range(300):
    numpy.save(path("data", f"{n}.npy"), numpy.random.default_rng(n).random(65536, dtype="f4"))


class Files(Dataset):
    def __init__(self, folder):
        self.folder = folder

    def __len__(self):
        return 300

    def __getitem__(self, i):
        return torch.from_numpy(numpy.load(f"{self.folder}/{i}.npy")[:512].copy())


net = mlp(512, 256, 1)
opt = torch.optim.Adam(net.parameters())
for epoch in range(4):
    folder = path("scratch") + str(epoch)
    with own.row("own_copy"):
        shutil.copytree(path("data", "x")[:-2], folder)
    for x in DataLoader(Files(folder), 10):
        opt.zero_grad()
        net(x).pow(2).mean().backward()
        opt.step()
        own.step()
own.show(epochs=4, why=["loop-bound", "input-bound", "storage-bound"])
