# SPDX-License-Identifier: Apache-2.0
"""Sixteen threads of PyTorch on two processors."""

import torch
from torch.utils.data import DataLoader

import fit


def train(_folder):
    torch.set_num_threads(16)
    batches = [(torch.rand(32, 512), torch.arange(32) % 2) for _ in range(32)]
    fit.fit(fit.network(512, 512, 8), DataLoader(batches, batch_size=None), epochs=1)


if __name__ == "__main__":
    fit.main(None, train)
