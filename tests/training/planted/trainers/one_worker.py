# SPDX-License-Identifier: Apache-2.0
"""Samples that take a while each, of which one worker makes too few."""

import time

import torch
from torch.utils.data import DataLoader, Dataset

import fit


class Samples(Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        time.sleep(0.01)  # a service that answers
        return torch.full((1024,), float(index)), index % 2


def train(_folder):
    fit.fit(fit.network(1024), DataLoader(Samples(), batch_size=4, num_workers=1))


if __name__ == "__main__":
    fit.main(None, train)
