# SPDX-License-Identifier: Apache-2.0
"""Large batches copied to the device out of pageable memory."""

import torch
from torch.utils.data import DataLoader

import device
import fit

FLOATS = 1 << 20


def train(_folder):
    batches = [(torch.rand(8, FLOATS), torch.arange(8) % 2) for _ in range(3)]
    net = device.Net(ms=4)
    target = device.device_memory(8 * FLOATS * 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(10):
        for batch, labels in DataLoader(batches, batch_size=None):
            device.copy_in_and_wait(target, batch.data_ptr(), batch.nbytes)
            loss = torch.nn.functional.cross_entropy(net(batch[:, :64]), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    fit.main(None, train)
