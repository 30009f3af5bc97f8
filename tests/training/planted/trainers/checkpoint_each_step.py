# SPDX-License-Identifier: Apache-2.0
"""The model is saved after every step."""

import os

import torch
from torch.utils.data import DataLoader, TensorDataset

import fit


def train(folder):
    rows = TensorDataset(torch.rand(96, 256), torch.arange(96) % 2)
    net = fit.network(256, 1024, 4)
    path = os.path.join(folder, "model.pt")
    loader = DataLoader(rows, batch_size=4, num_workers=2)
    fit.fit(net, loader, after_step=lambda: torch.save(net.state_dict(), path))


if __name__ == "__main__":
    fit.main(None, train)
