# SPDX-License-Identifier: Apache-2.0
"""A thread reads ahead from slow storage into a queue of two, without a DataLoader."""

import queue, threading, time, torch, watched as own
from sets import mlp

q = queue.Queue(2)


def read():
    for n in range(300):
        time.sleep(0.02)
        q.put(torch.randn(64, 256))
    q.put(None)


threading.Thread(target=read, daemon=True).start()
net = mlp(256, 512, 512, 1)
opt = torch.optim.Adam(net.parameters())
while True:
    with own.row("own_input"):
        x = q.get()
    if x is None:
        break
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    own.step()
own.show(epochs=None, loose=["loader_wait"])
