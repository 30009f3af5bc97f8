# SPDX-License-Identifier: Apache-2.0
"""Workers that sleep over each sample and a device that sleeps over each step: nobody needs a core.

WORKERS in the environment: how many; "none": the samples are there already.
"""

import os
import time

import torch
from torch.utils.data import DataLoader, Dataset

import device
import fit

WORKERS = os.environ["WORKERS"]


class Samples(Dataset):
    def __init__(self):
        self.rows = torch.rand(240, 64)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        if WORKERS != "none":
            time.sleep(0.02)
        return self.rows[index], index % 2


def train(_folder):
    net = device.Net(ms=25)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for batch, labels in DataLoader(
        Samples(), batch_size=4, num_workers=int(WORKERS.replace("none", "0"))
    ):
        loss = torch.nn.functional.cross_entropy(net(batch), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        device.item(device.scalar)


if __name__ == "__main__":
    fit.main(None, train)
