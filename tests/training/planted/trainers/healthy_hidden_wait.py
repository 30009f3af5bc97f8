# SPDX-License-Identifier: Apache-2.0
"""Nothing wrong: the host waits for batches while the device still has work for several steps."""

import time

import torch
from torch.utils.data import DataLoader, Dataset

import device
import fit


class Samples(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        time.sleep(0.004)
        return torch.rand(64), index % 2


def train(_folder):
    net = device.Net(ms=40)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    loader = DataLoader(Samples(), batch_size=4, num_workers=1)
    for number, (batch, labels) in enumerate(loader, 1):
        loss = torch.nn.functional.cross_entropy(net(batch), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 20 == 0:
            device.item(device.scalar)


if __name__ == "__main__":
    fit.main(None, train)
