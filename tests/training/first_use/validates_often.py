# SPDX-License-Identifier: Apache-2.0
"""Validates in every fifth step."""

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset


def validate(model, loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for x, y in loader:
            right += (model(x).argmax(1) == y).sum().item()
    model.train()
    return right


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 10))
    optimizer = torch.optim.Adam(model.parameters())
    data = TensorDataset(torch.randn(6400, 256), torch.randint(0, 10, (6400,)))
    held = TensorDataset(torch.randn(2000, 256), torch.randint(0, 10, (2000,)))
    held_loader = DataLoader(held, batch_size=128)
    for epoch in range(2):
        for step, (x, y) in enumerate(DataLoader(data, batch_size=64, shuffle=True)):
            loss = functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 5 == 0:
                validate(model, held_loader)  # edit


if __name__ == "__main__":
    main()
