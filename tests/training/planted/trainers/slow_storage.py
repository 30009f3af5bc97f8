# SPDX-License-Identifier: Apache-2.0
"""Whole samples read from a folder that is far away."""

import os

import numpy
import torch
from torch.utils.data import DataLoader, Dataset

import fit

SAMPLES, FLOATS = 96, 65536


def make(folder):
    for number in range(SAMPLES):
        numpy.save(os.path.join(folder, f"{number}.npy"), numpy.full(FLOATS, number, "f4"))


class Samples(Dataset):
    def __init__(self, folder):
        self.paths = sorted(entry.path for entry in os.scandir(folder))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return torch.from_numpy(numpy.load(self.paths[index])[:1024]), index % 2


def train(folder):
    fit.fit(fit.network(1024), DataLoader(Samples(folder), batch_size=4, num_workers=2))


if __name__ == "__main__":
    fit.main(make, train)
