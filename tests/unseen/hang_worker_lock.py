# SPDX-License-Identifier: Apache-2.0
"""A worker takes a lock of the data set twice; ended by SIGTERM."""

import threading, torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, Dataset


class Locked(Dataset):
    lock = threading.Lock()

    def __len__(self):
        return 10000

    def __getitem__(self, i):
        with self.lock:
            if i == 640:
                self.lock.acquire()
            return torch.randn(64)


net = mlp(64, 512, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
for x in DataLoader(Locked(), 8, num_workers=2):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    own.step()
    if own.count["steps"] == 80:
        own.show(epochs=None, why=["hung"])
