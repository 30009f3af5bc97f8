# SPDX-License-Identifier: Apache-2.0
"""The best weights are copied whenever the loss falls, which it does nearly always."""

import copy, torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

net = mlp(256, 1500, 1500, 1)
opt = torch.optim.SGD(net.parameters(), 1e-4)
best = 1e9
for (x,) in DataLoader(TensorDataset(torch.randn(4800, 256)), 16):
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    own.step()
    if True:
        best, state = loss.item(), copy.deepcopy(net.state_dict())
own.show(epochs=1)
