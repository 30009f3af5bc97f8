"""Sixteen threads of PyTorch on two processors."""

import torch
from torch.utils.data import DataLoader, TensorDataset

import fit


def train(_folder):
    torch.set_num_threads(16)
    rows = TensorDataset(torch.rand(1024, 512), torch.arange(1024) % 2)
    fit.fit(fit.network(512, 512, 8), DataLoader(rows, batch_size=32, num_workers=1), epochs=1)


if __name__ == "__main__":
    fit.main(None, train)
