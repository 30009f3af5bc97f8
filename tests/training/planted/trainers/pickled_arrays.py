# SPDX-License-Identifier: Apache-2.0
"""Batches that are lists of NumPy arrays: they are pickled and sent through a pipe, and not shared.
"""

import numpy
import torch
from torch.utils.data import DataLoader, Dataset

import fit


class Arrays(Dataset):
    def __len__(self):
        return 480

    def __getitem__(self, index):
        return numpy.full((256, 512), index, "f4"), index % 2


def train(_folder):
    loader = DataLoader(Arrays(), batch_size=16, num_workers=2, collate_fn=lambda samples: samples)
    batches = (
        (
            torch.from_numpy(numpy.stack([rows[0] for rows, _ in batch])),
            torch.tensor([label for _, label in batch]),
        )
        for batch in loader
    )
    fit.fit(fit.network(512), batches)


if __name__ == "__main__":
    fit.main(None, train)
