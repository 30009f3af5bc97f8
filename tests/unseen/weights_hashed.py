# SPDX-License-Identifier: Apache-2.0
"""A hash of all weights is made at each step."""

import hashlib, torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

net = mlp(512, 1024, 512, 10)
opt = torch.optim.SGD(net.parameters(), 0.1)
for (x,) in DataLoader(TensorDataset(torch.randn(9600, 512)), 32):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    own.step()
    with own.row("own_update"):
        digest = hashlib.sha256()
        for p in net.parameters():
            digest.update(p.detach().numpy().tobytes())
        digest.hexdigest()
own.show(epochs=1)
