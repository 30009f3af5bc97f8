# SPDX-License-Identifier: Apache-2.0
"""Samples that are compressed by zlib, in memory."""

import zlib

import numpy
import torch
from torch.utils.data import DataLoader, Dataset

import fit


class Samples(Dataset):
    def __init__(self):
        values = numpy.random.default_rng(1).integers(0, 40, (4, 150000), "u1")
        self.packed = [zlib.compress(row.tobytes()) for row in values]

    def __len__(self):
        return 640

    def __getitem__(self, index):
        row = numpy.frombuffer(zlib.decompress(self.packed[index % 4]), "u1")
        return torch.from_numpy(row[:512].astype("f4")), index % 2


def train(_folder):
    fit.fit(fit.network(512, 256, 2), DataLoader(Samples(), batch_size=16, num_workers=1))


if __name__ == "__main__":
    fit.main(None, train)
