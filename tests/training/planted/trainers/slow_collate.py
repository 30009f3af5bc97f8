# SPDX-License-Identifier: Apache-2.0
"""Sentences that are padded token by token when the batch is put together."""

import torch
from torch.utils.data import DataLoader, Dataset

import fit

WORDS = 1024


class Sentences(Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        return torch.arange(WORDS - index), index % 2


def collate(samples):
    rows = [
        [int(word) for word in sentence] + [0] * (WORDS - len(sentence)) for sentence, _ in samples
    ]
    return torch.tensor(rows, dtype=torch.float32), torch.tensor([label for _, label in samples])


def train(_folder):
    fit.fit(
        fit.network(WORDS), DataLoader(Sentences(), batch_size=8, num_workers=1, collate_fn=collate)
    )


if __name__ == "__main__":
    fit.main(None, train)
