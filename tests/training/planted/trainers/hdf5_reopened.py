# SPDX-License-Identifier: Apache-2.0
"""The HDF5 file is opened for each sample, and all its names are read again."""

import os

import h5py
import numpy
import torch
from torch.utils.data import DataLoader, Dataset

import fit


def make(folder):
    with h5py.File(os.path.join(folder, "samples.h5"), "w") as file:
        for number in range(200):
            group = file.create_group(f"episode_{number}")
            group["rows"] = numpy.full((4, 1024), number, "f4")
            group.attrs["length"] = 4


class Samples(Dataset):
    def __init__(self, folder):
        self.path = os.path.join(folder, "samples.h5")

    def __len__(self):
        return 200

    def __getitem__(self, index):
        with h5py.File(self.path, "r") as file:
            names = sorted(name for name in file if file[name].attrs["length"] == 4)
            return torch.from_numpy(file[names[index]]["rows"][0]), index % 2


def train(folder):
    fit.fit(fit.network(1024), DataLoader(Samples(folder), batch_size=4, num_workers=2))


if __name__ == "__main__":
    fit.main(make, train)
