# SPDX-License-Identifier: Apache-2.0
"""A buffer that is freed and made again after every few kernels, as torch.cuda.empty_cache() in the
loop does."""

import time

import torch
from torch.utils.data import DataLoader, TensorDataset

import device
import fit


def train(_folder):
    rows = TensorDataset(torch.rand(160, 64), torch.arange(160) % 2)
    net = device.Net(ms=4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    buffer = device.device_memory(1 << 20)
    for batch, labels in DataLoader(rows, batch_size=4):
        loss = torch.nn.functional.cross_entropy(net(batch), labels)
        for _ in range(10):
            device.launch(200_000, 10)
            device.free_memory(buffer)
            buffer = device.device_memory(1 << 20)
            time.sleep(0.002)  # what the script does with it
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    fit.main(None, train)
