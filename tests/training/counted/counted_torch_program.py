# SPDX-License-Identifier: Apache-2.0
"""Trains a small model, and prints the sum of its weights.

counted_torch_program.py STEPS WORKERS [compile]
"""

import sys

import torch
from torch.utils.data import DataLoader, Dataset

BATCH = 4


class Items(Dataset):
    def __init__(self, steps):
        self.steps = steps

    def __len__(self):
        return BATCH * self.steps

    def __getitem__(self, item):
        return torch.full((16,), item % 7 / 7)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, 1)

    def helper(self, x):
        return torch.relu(x)

    def forward(self, x):
        for _ in range(3):
            x = self.helper(x)
        return self.layer(x)


def tiny(x):
    return x + 1


def metrics():
    x = 0
    for _ in range(50):
        x = tiny(x)


def train(model, optimizer, loader):
    for batch in loader:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        metrics()
        torch.randn(300, 300).mm(torch.randn(300, 300)).mm(torch.randn(300, 300))
        optimizer.step()


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Model()
    run = torch.compile(model, backend="eager") if "compile" in sys.argv else model
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    loader = DataLoader(Items(int(sys.argv[1])), batch_size=BATCH, num_workers=int(sys.argv[2]))
    for _ in range(2):
        train(run, optimizer, loader)
    print(model.layer.weight.sum().item(), sys.getprofile())


if __name__ == "__main__":
    main()
