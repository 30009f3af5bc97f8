# SPDX-License-Identifier: Apache-2.0
"""ending_program.py HOW: a training whose worker ends it.

bus: SIGBUS in a worker. full: large batches in the end, for a small /dev/shm. grows: a worker takes
memory until its control group has none.
"""

import os
import signal
import sys

import torch
from torch.utils.data import DataLoader, Dataset

HOW = sys.argv[1]
kept = []


class Ending(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, i):
        if HOW == "bus" and i == 200:
            os.kill(os.getpid(), signal.SIGBUS)
        if HOW == "grows":
            kept.append(bytearray(b"x" * 4000000))
        return torch.zeros((1024 if HOW == "full" and i >= 200 else 4, 1024))


def main():
    torch.set_num_threads(1)
    net = torch.nn.Linear(1024, 1)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for batch in DataLoader(Ending(), batch_size=4, num_workers=1 + (HOW != "grows")):
        optimizer.zero_grad()
        net(batch).sum().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
