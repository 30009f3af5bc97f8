# SPDX-License-Identifier: Apache-2.0
"""Holds more memory with each step, in the trainer and in its worker. Prints what it held after
each step."""

import json
import os
import time

import torch
from torch.utils.data import DataLoader, Dataset

STEPS, MIB = 6, 1 << 20
kept = []


def hold(mib):
    kept.append(b"x" * (mib * MIB))


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Rows(Dataset):
    def __len__(self):
        return STEPS

    def __getitem__(self, index):
        hold(16)
        time.sleep(0.3)
        return torch.full((4,), float(index)), resident()


def main():
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    held = []
    for rows, worker in DataLoader(Rows(), batch_size=1, num_workers=1):
        hold(32)
        model(rows).sum().backward()
        optimizer.step()
        held.append(resident())
        time.sleep(0.3)  # each step is to be seen
    print(json.dumps(held))


if __name__ == "__main__":
    main()
