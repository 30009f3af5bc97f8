# SPDX-License-Identifier: Apache-2.0
"""A value read back after every few kernels: the device waits for the host, then the host for the
device."""

import time

import torch
from torch.utils.data import DataLoader, TensorDataset

import device
import fit


def train(_folder):
    rows = TensorDataset(torch.rand(160, 64), torch.arange(160) % 2)
    net = device.Net(ms=4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for batch, labels in DataLoader(rows, batch_size=4):
        loss = torch.nn.functional.cross_entropy(net(batch), labels)
        total = 0
        for _ in range(10):
            device.launch(200_000, 10)
            total += device.item(device.scalar)
            time.sleep(0.002)  # what the script does with it
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    fit.main(None, train)
