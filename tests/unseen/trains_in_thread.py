# SPDX-License-Identifier: Apache-2.0
"""Training runs in a thread of a small server, the main thread sleeps and looks at a flag."""

import threading, time, torch
import timers as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset


def train():
    own.main = threading.get_ident()
    net = mlp(256, 1024, 1024, 1)
    opt = torch.optim.Adam(net.parameters())
    loader = DataLoader(TensorDataset(torch.randn(9600, 256)), 32)
    for (x,) in own.batches(loader):
        with own.row("forward"):
            out = net(x)
        with own.row("loss"):
            loss = out.pow(2).mean()
        with own.row("zero_grad"):
            opt.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            opt.step()
        own.step()


t = threading.Thread(target=train)
t.start()
while t.is_alive():
    time.sleep(0.05)
own.core_waits.clear()
own.show(epochs=1)
