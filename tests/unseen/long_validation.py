# SPDX-License-Identifier: Apache-2.0
"""Validation takes longer than training. Its data set is larger."""

import torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

make = lambda n: TensorDataset(torch.randn(n, 128), torch.randint(0, 4, (n,)))
train, val = DataLoader(make(3200), 32, shuffle=True), DataLoader(make(12800), 64)
net = mlp(128, 1024, 1024, 4)
opt = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(4):
    net.train()
    for x, y in train:
        opt.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
        own.step()
    net.eval()
    good = 0
    with torch.inference_mode(), own.row("validation"):
        for x, y in val:
            good += (net(x).argmax(1) == y).sum().item()
    print("accuracy", good / 12800, flush=True)
own.show(epochs=4)
