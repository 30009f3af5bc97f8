# SPDX-License-Identifier: Apache-2.0
"""matplotlib draws and saves the curve every 20 steps."""

import matplotlib, torch, watched as own

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from torch.utils.data import DataLoader, TensorDataset
from sets import mlp, path

net = mlp(128, 256, 1)
opt = torch.optim.Adam(net.parameters())
losses = []
for n, (x,) in enumerate(DataLoader(TensorDataset(torch.randn(9600, 128)), 64)):
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())
    if n % 20 == 19:
        with own.row("bookkeeping"):
            plt.figure()
            plt.plot(losses)
            plt.savefig(path("loss.png"))
            plt.close()
    own.step()
own.show(epochs=1)
