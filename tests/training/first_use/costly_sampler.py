# SPDX-License-Identifier: Apache-2.0
"""A sampler that weighs all samples for each index."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, Sampler, TensorDataset


class Balanced(Sampler):
    def __init__(self, labels):
        self.labels = labels

    def __len__(self):
        return len(self.labels)

    def __iter__(self):
        counts = np.zeros(10)
        for _ in range(len(self.labels)):
            weights = 1 / (1 + counts[self.labels])  # edit
            i = int(np.random.choice(len(self.labels), p=weights / weights.sum()))  # edit
            counts[self.labels[i]] += 1  # edit
            yield i


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    labels = np.random.default_rng(0).integers(0, 10, 20000)
    data = TensorDataset(torch.randn(20000, 64), torch.from_numpy(labels))
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(data, batch_size=32, sampler=Balanced(labels), num_workers=1)
    for _, (x, y) in zip(range(250), loader):
        loss = functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
