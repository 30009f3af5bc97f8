# SPDX-License-Identifier: Apache-2.0
"""An autoencoder from a DataLoader, its features in memory, and a head that takes its batches from
there."""

import timers as own
import torch
from small import Images, mlp, timed_step
from torch import nn
from torch.utils.data import DataLoader

encoder = nn.Sequential(nn.Flatten(), mlp(3 * 16 * 16, 64, 512, 2))
net = nn.Sequential(encoder, nn.Linear(64, 3 * 16 * 16))
optimizer = torch.optim.AdamW(net.parameters())
for epoch in range(2):
    for images, _ in own.batches(DataLoader(Images(30 * 32, 16), batch_size=32)):
        with own.row("forward"):
            out = net(images)
        with own.row("loss"):
            loss = nn.functional.mse_loss(out, images.flatten(1))
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
with own.row("validation"), torch.no_grad():
    pairs = [(encoder(images), labels) for images, labels in DataLoader(Images(30 * 32, 16), 64)]
features, classes = (torch.cat(parts) for parts in zip(*pairs))
head = mlp(64, 10, 512, 2)
optimizer = torch.optim.AdamW(head.parameters())
for epoch in range(4):
    for rows in torch.randperm(len(features)).split(64):
        timed_step(head, optimizer, features[rows], classes[rows])
own.count["epochs"] = None
own.show()
