# SPDX-License-Identifier: Apache-2.0
"""Samples of a thousand small tensors each: the trainer receives each of them by messages of its
own."""

import torch
from torch.utils.data import DataLoader, Dataset

import fit


class Samples(Dataset):
    def __init__(self):
        self.rows = torch.rand(1000, 2)

    def __len__(self):
        return 160

    def __getitem__(self, index):
        return dict(enumerate(self.rows.unbind())), index % 2


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = fit.network(2000)

    def forward(self, rows):
        return self.net(torch.cat(list(rows.values()), 1))


def train(_folder):
    fit.fit(Net(), DataLoader(Samples(), batch_size=8, num_workers=2))


if __name__ == "__main__":
    fit.main(None, train)
