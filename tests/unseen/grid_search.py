# SPDX-License-Identifier: Apache-2.0
"""Six short trainings of one process, each with a new model and loader."""

import torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(2000, 64), torch.randint(0, 3, (2000,)))
for width in (64, 128, 256):
    for lr in (0.1, 0.01):
        net = mlp(64, width, width, 3)
        opt = torch.optim.SGD(net.parameters(), lr)
        for epoch in range(2):
            for x, y in DataLoader(data, 20, shuffle=True):
                opt.zero_grad()
                torch.nn.functional.cross_entropy(net(x), y).backward()
                opt.step()
                own.step()
own.show(epochs=12)
