# SPDX-License-Identifier: Apache-2.0
"""Four batches a step, and a tenth of the time is validation."""

import torch
from torch.utils.data import DataLoader

import fit


def batches(count):
    return [(torch.rand(64, 512), torch.arange(64) % 2) for _ in range(count)]


def train(_folder):
    net = fit.network(512, 1024, 6)
    optimizer = torch.optim.AdamW(net.parameters())
    training = DataLoader(batches(40), batch_size=None, num_workers=1, persistent_workers=True)
    validation = DataLoader(batches(10), batch_size=None)
    for _ in range(2):
        for number, (rows, labels) in enumerate(training):
            (torch.nn.functional.cross_entropy(net(rows), labels) / 4).backward()
            if number % 4 == 3:
                optimizer.step()
                optimizer.zero_grad()
        with torch.no_grad():
            for rows, labels in validation:
                net(rows)


if __name__ == "__main__":
    fit.main(None, train)
