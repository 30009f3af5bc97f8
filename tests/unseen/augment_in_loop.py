# SPDX-License-Identifier: Apache-2.0
"""numpy changes each batch in the loop, ahead of the model, and takes most of the time."""

import numpy as np, torch, watched as own
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

net = nn.Sequential(nn.Flatten(), nn.Linear(3072, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.SGD(net.parameters(), 0.1)
data = TensorDataset(torch.rand(3200, 3, 32, 32), torch.randint(0, 10, (3200,)))
for epoch in range(2):
    for x, y in DataLoader(data, 32, shuffle=True):
        with own.row("own_input"):
            images = x.numpy()
            for k in range(len(images)):
                for _ in range(4):
                    images[k] = np.roll(images[k], np.random.randint(-4, 4), axis=2)
                    images[k] = np.clip(
                        images[k] + np.random.normal(0, 0.02, images[k].shape), 0, 1
                    )
            x = torch.from_numpy(images)
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
        own.step()
own.show(epochs=2, loose=["forward"], why=["input-bound", "loop-bound"])
