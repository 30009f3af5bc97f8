# SPDX-License-Identifier: Apache-2.0
"""The thread that makes batches died; training waits for its queue, until Ctrl-C."""

import queue, sys, threading, torch, watched as own
from sets import mlp

q = queue.Queue(4)
threading.excepthook = lambda args: None


def produce():
    for n in range(60):
        q.put(torch.randn(64, 256))
    raise RuntimeError("no more files")


threading.Thread(target=produce, daemon=True).start()
net = mlp(256, 512, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
try:
    while True:
        if own.count["steps"] == 60:
            own.show(epochs=None, why=["hung"])
        with own.row("own_input"):
            x = q.get()
        opt.zero_grad()
        net(x).mean().backward()
        opt.step()
        own.step()
except KeyboardInterrupt:
    sys.exit(1)
