# SPDX-License-Identifier: Apache-2.0
"""Features of images are written to a file; nothing is trained."""

import numpy as np, torch, watched as own
from sets import path
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

net = nn.Sequential(
    nn.Conv2d(3, 32, 3, 2),
    nn.ReLU(),
    nn.Conv2d(32, 64, 3, 2),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
).eval()
out = []
with torch.no_grad():
    for (x,) in DataLoader(TensorDataset(torch.rand(1280, 3, 64, 64)), 32, num_workers=1):
        out.append(net(x).numpy())
np.save(path("features.npy"), np.concatenate(out))
own.show(epochs=None, why=["no-steps"])
