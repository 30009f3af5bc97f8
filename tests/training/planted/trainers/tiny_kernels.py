# SPDX-License-Identifier: Apache-2.0
"""Thousands of kernels a step, each of which is done before the next is launched."""

import torch
from torch.utils.data import DataLoader, TensorDataset

import device
import fit


def train(_folder):
    rows = TensorDataset(torch.rand(120, 64), torch.arange(120) % 2)
    net = device.Net(ms=0)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for batch, labels in DataLoader(rows, batch_size=4):
        loss = torch.nn.functional.cross_entropy(net(batch), labels)
        for _ in range(12000):
            device.launch(0, 1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    fit.main(None, train)
