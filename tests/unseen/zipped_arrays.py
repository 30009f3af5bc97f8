# SPDX-License-Identifier: Apache-2.0
"""Samples are arrays in one zip archive, compressed, read in the training process."""

import io, zipfile, numpy as np, torch, watched as own
from sets import mlp, noise, path
from torch.utils.data import DataLoader, Dataset

with zipfile.ZipFile(path("z.zip"), "w", zipfile.ZIP_DEFLATED) as file:
    for n in range(200):
        out = io.BytesIO()
        np.save(out, noise(256, 256, seed=n).astype("f2"))
        file.writestr(f"{n}.npy", out.getvalue())


class Zipped(Dataset):
    file = None

    def __len__(self):
        return 1600

    def __getitem__(self, i):
        self.file = self.file or zipfile.ZipFile(path("z.zip"))
        return np.load(io.BytesIO(self.file.read(f"{i % 200}.npy")))[i % 256].astype("f4")


net = mlp(256, 512, 1)
opt = torch.optim.Adam(net.parameters())
for x in DataLoader(Zipped(), 16):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    own.step()
own.show(epochs=1)
