# SPDX-License-Identifier: Apache-2.0
"""Features are cached as compressed arrays once; then a small net learns from them."""

import os
import pickle

import numpy as np
import timers as own
import torch
from small import mlp
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
os.makedirs("cache")
random = np.random.default_rng(0)
for index in range(400):
    wave = random.standard_normal(16384).astype(np.float32)
    spectrum = np.abs(np.fft.rfft(wave.reshape(16, 1024), axis=1)).astype(np.float32)
    np.savez_compressed(f"cache/{index}.npz", x=spectrum.mean(0), wave=wave, y=index % 6)
with open("cache/index.pkl", "wb") as file:
    pickle.dump([f"cache/{index}.npz" for index in range(400)], file)


class Cached(Dataset):
    def __init__(self):
        with open("cache/index.pkl", "rb") as file:
            paths = pickle.load(file)
        found = [np.load(path) for path in paths]
        self.x = torch.tensor(np.stack([one["x"] for one in found]))
        self.y = torch.tensor([int(one["y"]) for one in found])

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


net = mlp(513, 6, width=768)
optimizer = torch.optim.Adam(net.parameters())
loader = DataLoader(Cached(), batch_size=32, shuffle=True)
for epoch in own.epochs(4):
    for x, y in own.batches(loader):
        with own.row("forward"):
            out = net(x)
        with own.row("loss"):
            loss = torch.nn.functional.cross_entropy(out, y)
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
own.show()
