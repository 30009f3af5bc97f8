# SPDX-License-Identifier: Apache-2.0
"""Four models learn from each batch one after the other, each with an optimizer of its own."""

import timers as own
import torch
from small import ConvNet, Images
from torch.nn import functional as F
from torch.utils.data import DataLoader

nets = [ConvNet(width=8) for _ in range(4)]
optimizers = [torch.optim.Adam(net.parameters()) for net in nets]
loader = DataLoader(Images(30 * 16), batch_size=16, shuffle=True)
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        for net, optimizer in zip(nets, optimizers):
            with own.row("zero_grad"):
                optimizer.zero_grad()
            with own.row("forward"):
                out = net(images)
            with own.row("loss"):
                loss = F.cross_entropy(out, labels)
            with own.row("backward"):
                loss.backward()
            with own.row("optimizer"):
                optimizer.step()
        own.step()
    for net in nets:
        net.eval()
    with torch.no_grad(), own.row("validation"):
        for images, _ in DataLoader(Images(8 * 16), batch_size=16):
            torch.stack([net(images) for net in nets]).mean(0).argmax(1)
    for net in nets:
        net.train()
own.show()
