# SPDX-License-Identifier: Apache-2.0
"""Pretraining by masks, a checkpoint, and then fine-tuning of the loaded body with a new head."""

import timers as own
import torch
from small import Images, mlp, timed_step
from torch import nn
from torch.utils.data import DataLoader

body = mlp(3 * 16 * 16, 128, 256, 2)
net = nn.Sequential(nn.Flatten(), body, nn.Linear(128, 3 * 16 * 16))
optimizer = torch.optim.AdamW(net.parameters())
for epoch in own.epochs(2):
    for images, _ in own.batches(DataLoader(Images(40 * 32, 16), batch_size=32)):
        masked = images * (torch.rand_like(images) > 0.5)
        with own.row("forward"):
            out = net(masked)
        with own.row("loss"):
            loss = nn.functional.mse_loss(out, images.flatten(1))
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        with own.row("zero_grad"):
            optimizer.zero_grad()
        own.step()
with own.row("checkpoint"):
    torch.save(body.state_dict(), "body.pt")
body = mlp(3 * 16 * 16, 128, 256, 2)
with own.row("checkpoint"):
    body.load_state_dict(torch.load("body.pt"))
net = nn.Sequential(nn.Flatten(), body, nn.Linear(128, 10))
optimizer = torch.optim.SGD(net.parameters(), 0.01)
loader = DataLoader(Images(20 * 32, 16, ms=1), batch_size=32, num_workers=2)
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        timed_step(net, optimizer, images, labels)
own.show()
