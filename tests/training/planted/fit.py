# SPDX-License-Identifier: Apache-2.0
"""The loop around a model, as in most training scripts; and a trainer's two ways of being called.

    python3 TRAINER.py make FOLDER    what it trains on
    python3 TRAINER.py train FOLDER
"""

import sys

import torch


def network(inputs, width=64, depth=1):
    """On the processor: the time of a step goes with depth * width²."""
    layers = [torch.nn.Flatten(), torch.nn.Linear(inputs, width)]
    for _ in range(depth):
        layers += [torch.nn.ReLU(), torch.nn.Linear(width, width)]
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, 2))


def fit(net, loader, epochs=1, after_step=None):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(epochs):
        for rows, labels in loader:
            loss = torch.nn.functional.cross_entropy(net(rows), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if after_step:
                after_step()


def main(make, train):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    {"make": make or (lambda folder: None), "train": train}[sys.argv[1]](sys.argv[2])
