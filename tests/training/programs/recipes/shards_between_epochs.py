# SPDX-License-Identifier: Apache-2.0
"""Without a DataLoader: each epoch loads its shard of the data; the best weights come back."""

import timers as own
import torch
from small import mlp
from torch.nn import functional as F

torch.set_num_threads(1)
for number in range(5):
    torch.save((torch.randn(2000, 2048), torch.randint(0, 5, (2000,))), f"shard{number}.pt")
net = mlp(2048, 5, width=16)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
images, labels = torch.load("shard0.pt")  # a part of the start
for number in range(1, 11):
    if number > 1:
        with own.row("loader_wait"):
            shard = torch.load(f"shard{number % 5}.pt")
        images, labels = shard  # gives the last one back
    for batch in torch.randperm(len(images))[:320].split(16):
        own.step()
        x, y = images[batch], labels[batch]
        optimizer.zero_grad()
        with own.row("forward"):
            logits = net(x)
        with own.row("loss"):
            loss = F.cross_entropy(logits, y)
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
    with own.row("checkpoint"):
        torch.save(net.state_dict(), f"best{number % 2}.pt")
    with own.row("checkpoint"):
        net.load_state_dict(torch.load(f"best{number % 2}.pt"))
own.show(epochs=None, denies=["checkpoints"])
