# SPDX-License-Identifier: Apache-2.0
"""A queue of threads that compute in Python: they take the interpreter's lock from training."""

import queue, threading, torch, watched as own
from sets import mlp

q = queue.Queue(8)


def produce(seed):
    while True:
        values, s = [], seed
        for _ in range(64 * 32):
            s = (s * 1103515245 + 12345) % 2147483648
            values.append(s / 2147483648)
        q.put(torch.tensor(values).view(64, 32))


for n in range(3):
    threading.Thread(target=produce, args=(n,), daemon=True).start()
net = mlp(32, *[64] * 10, 1)
opt = torch.optim.Adam(net.parameters())
for step in range(250):
    with own.row("own_input"):
        x = q.get()
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    own.step()
rows = ["forward", "backward", "optimizer"]
own.show(epochs=None, loose=rows, why=["input-bound", "lock-bound"])
