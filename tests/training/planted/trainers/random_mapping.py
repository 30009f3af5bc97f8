# SPDX-License-Identifier: Apache-2.0
"""Samples here and there in one large mapped file that is far away."""

import os

import numpy
import torch
from torch.utils.data import DataLoader, Dataset

import fit

SAMPLES, FLOATS = 512, 1024


def make(folder):
    numpy.zeros(32 * SAMPLES * FLOATS, "f4").tofile(os.path.join(folder, "samples.bin"))


class Samples(Dataset):
    def __init__(self, folder):
        path = os.path.join(folder, "samples.bin")
        self.rows = numpy.memmap(path, "f4", "r", shape=(32 * SAMPLES, FLOATS))

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return torch.from_numpy(self.rows[index * 7919 % len(self.rows)] + 0), index % 2


def train(folder):
    fit.fit(fit.network(FLOATS), DataLoader(Samples(folder), batch_size=8, num_workers=2))


if __name__ == "__main__":
    fit.main(make, train)
