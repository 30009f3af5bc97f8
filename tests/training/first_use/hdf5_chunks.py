# SPDX-License-Identifier: Apache-2.0
"""Single frames of an HDF5 file whose chunks have 60."""

import os

import h5py
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def make_file(path):
    if os.path.exists(path):
        return
    with h5py.File(path, "w") as f:
        frames = np.random.default_rng(0).integers(0, 20, (600, 64, 64, 3), dtype=np.uint8)
        f.create_dataset("frames", data=frames, chunks=(60, 64, 64, 3), compression="gzip")


class Robot(Dataset):
    def __init__(self, path):
        self.path, self.file = path, None

    def __len__(self):
        return 600

    def __getitem__(self, i):
        if self.file is None:
            self.file = h5py.File(self.path, rdcc_nbytes=0)
        frame = self.file["frames"][i]  # edit
        return torch.from_numpy(frame).permute(2, 0, 1) / 255.0


def main():
    make_file("robot.h5")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(3, 32, 5, 2), nn.ReLU(), nn.Flatten(),
                                nn.LazyLinear(7))
    model(torch.zeros(1, 3, 64, 64))
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(Robot("robot.h5"), batch_size=8, shuffle=True, num_workers=1)
    for _ in range(2):
        for x in loader:
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
