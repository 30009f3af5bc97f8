# SPDX-License-Identifier: Apache-2.0
"""Eight workers, and a trainer that computes, on two processors."""

import torch
from torch.utils.data import DataLoader, Dataset

import fit


class Samples(Dataset):
    def __len__(self):
        return 192

    def __getitem__(self, index):
        noise = torch.rand(512, 512)
        for _ in range(8):
            noise = noise.sort(dim=1).values.flip(1)
        return noise[0], index % 2


def train(_folder):
    fit.fit(fit.network(512, 512, 8), DataLoader(Samples(), batch_size=4, num_workers=8))


if __name__ == "__main__":
    fit.main(None, train)
