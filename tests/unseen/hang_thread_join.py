# SPDX-License-Identifier: Apache-2.0
"""The thread that saves died with its lock, and the next save waits for it."""

import sys, threading, torch, watched as own
from sets import mlp, path

net = mlp(256, 512, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
lock = threading.Lock()
threading.excepthook = lambda a: None


def save(n):
    lock.acquire()
    if n == 60:
        raise OSError("disk full")
    torch.save(net.state_dict(), path("w.pt"))
    lock.release()


try:
    for n in range(200):
        if n % 20 == 0:
            threading.Thread(target=save, args=(n,), daemon=True).start()
        opt.zero_grad()
        net(torch.randn(64, 256)).mean().backward()
        opt.step()
        own.step()
        if n == 80:
            own.show(epochs=None, why=["hung"])
            with lock:
                pass
except KeyboardInterrupt:
    sys.exit(1)
