# SPDX-License-Identifier: Apache-2.0
"""Persistent workers for training and validation, four epochs, the best model kept."""

import timers as own
import torch
from small import ConvNet, Images
from torch.utils.data import DataLoader

net = ConvNet(width=48)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
loss_of = torch.nn.CrossEntropyLoss()
more = {"num_workers": 1, "persistent_workers": True, "batch_size": 32}
train = DataLoader(Images(20 * 32), shuffle=True, **more)
valid = DataLoader(Images(8 * 32), **more)
best = 1e9


def evaluate():
    net.eval()
    total = 0.0
    with torch.no_grad():
        for images, labels in valid:
            total += loss_of(net(images), labels).item()
    return total / len(valid)


for epoch in own.epochs(4):
    net.train()
    for images, labels in own.batches(train):
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("forward"):
            out = net(images)
        with own.row("loss"):
            loss = loss_of(out, labels)
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
    with own.row("validation"):
        value = evaluate()
    if value < best:
        best = value
        with own.row("checkpoint"):
            torch.save(net.state_dict(), "best.pt")
own.show()
