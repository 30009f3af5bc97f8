# SPDX-License-Identifier: Apache-2.0
"""A curriculum: sequences grow from 16 to 128 tokens, so steps become longer."""

import torch, watched as own
from torch import nn

net = nn.Sequential(
    nn.Embedding(100, 64),
    nn.TransformerEncoderLayer(64, 4, 128, batch_first=True),
    nn.Linear(64, 100),
)
opt = torch.optim.Adam(net.parameters())
for n in range(240):
    x = torch.randint(0, 100, (16, 16 + n // 2))
    loss = nn.functional.cross_entropy(net(x).flatten(0, 1), x.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    own.step()
own.show(epochs=None)
