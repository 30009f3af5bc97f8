# SPDX-License-Identifier: Apache-2.0
"""Whole FLAC files are decoded for a crop of a second, and its spectrum is made by NumPy."""

import numpy as np, soundfile, torch, watched as own
from sets import mlp, noise, path
from torch.utils.data import DataLoader, Dataset

for n in range(20):
    soundfile.write(path(f"{n}.flac"), 0.1 * noise(16000 * 12, seed=n), 16000)


class Crops(Dataset):
    def __len__(self):
        return 480

    def __getitem__(self, i):
        x, rate = soundfile.read(path(f"{i % 20}.flac"), dtype="float32")
        x = x[i % 1000 : i % 1000 + rate].reshape(-1, 400)
        return torch.from_numpy(np.abs(np.fft.rfft(x, 512)).astype("f4")).flatten()


net = mlp(40 * 257, 128, 1)
opt = torch.optim.Adam(net.parameters())
for x in DataLoader(Crops(), 8, num_workers=1, pin_memory=False):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    own.step()
own.show(epochs=1)
