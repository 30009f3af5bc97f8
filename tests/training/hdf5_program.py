# SPDX-License-Identifier: Apache-2.0
"""Training that reads rows of an HDF5 file in the loop's process.

python3 hdf5_program.py HOW    HOW: keep the file open, or open it for each sample
"""

import sys

import h5py
import torch
from torch.utils.data import Dataset

from fit import fit

SAMPLES, BATCH, FIELDS, FEATURES = 400, 10, 6, 8


def make(path):
    with h5py.File(path, "w") as root:
        for field in range(FIELDS):
            root[f"group/{field}"] = torch.randn(SAMPLES, FEATURES).numpy()


class Rows(Dataset):
    def __init__(self, path, keeps):
        self.path, self.root = path, h5py.File(path, "r") if keeps else None

    def __len__(self):
        return SAMPLES

    def read(self, root, index):
        return sum(root[f"group/{field}"][index] for field in range(FIELDS))

    def __getitem__(self, index):
        if self.root:
            return self.read(self.root, index)
        with h5py.File(self.path, "r") as root:
            return self.read(root, index)


def main():
    make("rows.h5")
    fit(Rows("rows.h5", sys.argv[1] == "keep"), BATCH, FEATURES)


if __name__ == "__main__":
    main()
