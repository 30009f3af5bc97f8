# SPDX-License-Identifier: Apache-2.0
"""A copy of the weights that follows them, updated by a Python loop after each step."""

import copy, torch, watched as own
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

net = nn.Sequential(
    *[nn.Sequential(nn.Linear(256, 256), nn.LayerNorm(256), nn.GELU()) for _ in range(24)]
)
ema = copy.deepcopy(net)
opt = torch.optim.SGD(net.parameters(), 1e-3)
for epoch in range(2):
    for (x,) in DataLoader(TensorDataset(torch.randn(1600, 256)), 4):
        opt.zero_grad()
        (net(x) - x).pow(2).mean().backward()
        opt.step()
        own.step()
        state, now = ema.state_dict(), net.state_dict()
        for k in state:
            state[k] = 0.99 * state[k] + 0.01 * now[k]
        ema.load_state_dict(state)
own.show(epochs=2)
