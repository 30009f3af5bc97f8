# SPDX-License-Identifier: Apache-2.0
"""Without a DataLoader: each batch is a file that torch.load reads."""

import timers as own
import torch
from small import ConvNet, timed_step

for number in range(30):
    batch = {"images": torch.rand(64, 3, 48, 48), "labels": torch.randint(0, 10, (64,))}
    torch.save(batch, f"{number}.pt")
net = ConvNet(width=2)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for epoch in range(4):
    for number in torch.randperm(30).tolist():
        with own.row("own_input"):
            batch = torch.load(f"{number}.pt")
        timed_step(net, optimizer, batch["images"], batch["labels"])
own.count["epochs"] = None
own.show(loose=["loader_wait", "checkpoint"])
