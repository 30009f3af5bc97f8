# SPDX-License-Identifier: Apache-2.0
"""TensorBoard gets a histogram of each weight at each step."""

import torch, watched as own
from sets import mlp, path
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.tensorboard import SummaryWriter

net = mlp(256, 512, 256, 10)
opt = torch.optim.Adam(net.parameters())
board = SummaryWriter(path("board"))
data = TensorDataset(torch.randn(6400, 256), torch.randint(0, 10, (6400,)))
for x, y in DataLoader(data, 32):
    opt.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
    own.step()
    with own.row("bookkeeping"):
        for name, weights in net.named_parameters():
            board.add_histogram(name, weights, own.count["steps"])
own.show(epochs=1)
