# SPDX-License-Identifier: Apache-2.0
"""A model that sleeps 8 ms a step, and a worker that makes its batch in 4 ms of a core. Alone the
model takes the time. With the argument `beside` three programs that compute share their core."""

import os
import subprocess
import sys
import time

import own_timers as own
import torch


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 50

    def __getitem__(self, index):
        burn(0.002)
        return torch.ones(4)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, rows):
        time.sleep(0.008)
        return self.layer(rows)


def others():
    """Programs that nothing records, on the core of this one."""
    settings = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    command = ["sh", "-c", "while kill -0 $PPID; do :; done"]
    return [subprocess.Popen(command, env=settings) for _ in range(3)]


os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
net = Net()
optimizer = own.adam(net)
beside = others() if "beside" in sys.argv else []
for rows in torch.utils.data.DataLoader(Rows(), batch_size=2, num_workers=1):
    optimizer.zero_grad()
    with own.timer("forward"):
        out = net(rows)
    out.sum().backward()
    optimizer.step()
for other in beside:
    other.kill()
    other.wait()
own.show()
