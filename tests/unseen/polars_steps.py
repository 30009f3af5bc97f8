# SPDX-License-Identifier: Apache-2.0
"""Each step samples rows of a polars table, joins features and computes a rolling mean."""

import numpy, polars, torch, watched as own
from sets import mlp

g = numpy.random.default_rng(0)
N = 200000
rows = polars.DataFrame({"user": g.integers(0, 5000, N), "t": numpy.arange(N), "v": g.random(N)})
features = {f"f{k}": g.random(5000) for k in range(15)}
users = polars.DataFrame({"user": numpy.arange(5000), **features})
net = mlp(16, 64, 1)
opt = torch.optim.Adam(net.parameters())
for n in range(120):
    with own.row("own_input"):
        batch = rows.sample(256, seed=n).join(users, on="user", how="left")
        mean = rows.group_by("user").agg(polars.col("v").mean())
        batch = batch.join(mean, on="user", suffix="_mean").drop("user", "t")
        x = torch.from_numpy(batch.to_numpy().copy()).float()[:, :16]
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    own.step()
own.show(epochs=None, loose=["loader_wait", "forward", "loss"])
