# SPDX-License-Identifier: Apache-2.0
"""Every 25 steps a distance of distributions is made by SciPy's sqrtm on the training thread."""

import numpy as np, scipy.linalg, torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

net = mlp(256, 512, 256)
opt = torch.optim.Adam(net.parameters())
real = np.cov(np.random.randn(512, 256), rowvar=False)
for (x,) in DataLoader(TensorDataset(torch.randn(12800, 256)), 32):
    opt.zero_grad()
    out = net(x)
    out.square().mean().backward()
    opt.step()
    own.step()
    if own.count["steps"] % 25 == 0:
        with own.row("own_update"):
            fake = np.cov(np.random.randn(512, 256), rowvar=False)
            scipy.linalg.sqrtm(real @ fake)
own.show(epochs=1)
