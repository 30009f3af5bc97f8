# SPDX-License-Identifier: Apache-2.0
"""Nothing wrong: the device is busy all the time, and the loss is read once a step, when it is
there."""

import torch
from torch.utils.data import DataLoader, TensorDataset

import device
import fit


def train(_folder):
    rows = TensorDataset(torch.rand(100, 64), torch.arange(100) % 2)
    net = device.Net(ms=120)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for batch, labels in DataLoader(rows, batch_size=4, num_workers=1):
        loss = torch.nn.functional.cross_entropy(net(batch), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        device.item(device.scalar)


if __name__ == "__main__":
    fit.main(None, train)
