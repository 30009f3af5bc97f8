# SPDX-License-Identifier: Apache-2.0
"""concurrent.futures makes the next batch while the model runs; its transform holds the lock."""

import concurrent.futures, numpy as np, torch, watched as own
from sets import mlp

rng = np.random.default_rng(0)


def make(n):
    rows = []
    for _ in range(64):
        row = [float((k * n) % 97) / 97 for k in range(256)]
        rows.append(row)
    return torch.tensor(rows)


net = mlp(256, 256, 1)
opt = torch.optim.Adam(net.parameters())
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    coming = pool.submit(make, 0)
    for n in range(300):
        with own.row("own_input"):
            x = coming.result()
        coming = pool.submit(make, n + 1)
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        own.step()
own.show(
    epochs=None, loose=["loader_wait", "forward", "backward", "optimizer", "zero_grad", "loss"]
)
