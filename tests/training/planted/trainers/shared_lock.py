# SPDX-License-Identifier: Apache-2.0
"""Four workers that read through one connection, by turns."""

import multiprocessing
import time

import torch
from torch.utils.data import DataLoader, Dataset

import fit


class Samples(Dataset):
    def __init__(self):
        self.lock = multiprocessing.Lock()

    def __len__(self):
        return 320

    def __getitem__(self, index):
        with self.lock:
            time.sleep(0.005)
        return torch.full((512,), float(index)), index % 2


def train(_folder):
    fit.fit(fit.network(512), DataLoader(Samples(), batch_size=8, num_workers=4))


if __name__ == "__main__":
    fit.main(None, train)
