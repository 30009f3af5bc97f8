# SPDX-License-Identifier: Apache-2.0
"""A worker forks a process that computes by OpenMP, whose threads the fork did not copy; Ctrl-C."""

import os, signal, sys, torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, Dataset


def blur():
    torch.set_num_threads(2)
    torch.randn(2048, 2048).exp().sum()


class Blurred(Dataset):
    def __len__(self):
        return 10000

    def __getitem__(self, i):
        if i == 800:
            blur()  # starts OpenMP's threads
            child = os.fork()
            if not child:
                signal.alarm(60)  # nobody ends it
                blur()
                os._exit(0)
            os.waitpid(child, 0)
        return torch.randn(128)


torch.set_num_threads(2)
net = mlp(128, 512, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
try:
    for x in DataLoader(Blurred(), 16, num_workers=1):
        opt.zero_grad()
        net(x).mean().backward()
        opt.step()
        own.step()
        if own.count["steps"] == 50:
            own.show(epochs=None, why=["hung"])
except KeyboardInterrupt:
    sys.exit(1)
