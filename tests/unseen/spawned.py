# SPDX-License-Identifier: Apache-2.0
"""Workers that are spawned: they import PyTorch again."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    import watched as own
    from sets import mlp

    net = mlp(64, 512, 512, 2)
    opt = torch.optim.Adam(net.parameters())
    loader = DataLoader(
        TensorDataset(torch.randn(3200, 64)), 32, num_workers=1, multiprocessing_context="spawn"
    )
    for epoch in range(3):
        for (x,) in loader:
            loss = net(x).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            own.step()
    own.show(epochs=3)
