# SPDX-License-Identifier: Apache-2.0
"""A thread holds a lock while the loader forks its workers, which wait for it for ever; Ctrl-C."""

import sys, threading, time, torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, Dataset

lock = threading.Lock()


class Locked(Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, i):
        with lock:
            return torch.randn(256)


def hold():
    while True:
        with lock:
            time.sleep(0.2)
        time.sleep(0.001)


net = mlp(256, 512, 10)
opt = torch.optim.SGD(net.parameters(), 0.01)
try:
    for epoch in range(3):
        for x in DataLoader(Locked(), 16, num_workers=2):
            opt.zero_grad()
            net(x).pow(2).mean().backward()
            opt.step()
            own.step()
        if epoch == 0:
            threading.Thread(target=hold, daemon=True).start()
            time.sleep(0.1)
            own.show(epochs=None, why=["hung"])
except KeyboardInterrupt:
    sys.exit(1)
