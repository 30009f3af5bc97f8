# SPDX-License-Identifier: Apache-2.0
"""multiprocessing.Pool.imap makes the batches in two processes."""

import multiprocessing, numpy as np, torch, watched as own
from sets import mlp


def make(n):
    rng = np.random.default_rng(n)
    rows = [np.sort(rng.standard_normal(20000)).astype("f4")[:256] for _ in range(16)]
    return np.stack(rows)


net = mlp(256, 256, 1)
opt = torch.optim.Adam(net.parameters())
with multiprocessing.Pool(2) as pool:
    coming = pool.imap(make, range(300))
    while True:
        with own.row("own_input"):
            x = next(coming, None)
        if x is None:
            break
        loss = net(torch.from_numpy(x)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        own.step()
own.show(epochs=None, loose=["loader_wait"])
