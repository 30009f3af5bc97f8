# SPDX-License-Identifier: Apache-2.0
"""Adam steps all rows of a large embedding, of which a batch uses few."""

import torch, watched as own
from torch.utils.data import DataLoader, TensorDataset

net = torch.nn.Sequential(torch.nn.EmbeddingBag(60000, 64), torch.nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters())
for (x,) in DataLoader(TensorDataset(torch.randint(0, 60000, (6400, 16))), 32):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    own.step()
own.show(epochs=1)
