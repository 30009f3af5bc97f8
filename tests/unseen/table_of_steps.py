# SPDX-License-Identifier: Apache-2.0
"""A table of pandas grows by a row a step, by concat, and is written as CSV each time."""

import pandas as pd, torch, watched as own
from sets import mlp, path
from torch.utils.data import DataLoader, TensorDataset

net = mlp(128, 256, 10)
opt = torch.optim.Adam(net.parameters())
log = pd.DataFrame()
for (x,) in DataLoader(TensorDataset(torch.randn(19200, 128)), 32):
    opt.zero_grad()
    loss = net(x).square().mean()
    loss.backward()
    opt.step()
    own.step()
    with own.row("own_update"):
        row = pd.DataFrame([{f"m{n}": loss.item() * n for n in range(8)}])
        log = pd.concat([log, row], ignore_index=True)
        log.to_csv(path("log.csv"))
own.show(epochs=1)
