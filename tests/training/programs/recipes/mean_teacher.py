# SPDX-License-Identifier: Apache-2.0
"""Half-supervised: few labelled and many bare pictures, and a teacher of averaged weights."""

import copy

import timers as own
import torch
from small import ConvNet, Images
from torch.nn import functional as F
from torch.utils.data import DataLoader

net = ConvNet(width=24)
teacher = copy.deepcopy(net)
for weight in teacher.parameters():
    weight.requires_grad_(False)
optimizer = torch.optim.SGD(net.parameters(), 0.03, momentum=0.9)
labelled = DataLoader(Images(16 * 8), batch_size=8, shuffle=True, drop_last=True)
bare = DataLoader(Images(40 * 24), batch_size=24, shuffle=True, drop_last=True)
labelled_iterator = iter(labelled)
for epoch in own.epochs(2):
    for images, _ in own.batches(bare):
        try:
            with own.row("loader_wait"):
                few, labels = next(labelled_iterator)
        except StopIteration:
            with own.row("loader_wait"):
                labelled_iterator = iter(labelled)
                few, labels = next(labelled_iterator)
        with torch.no_grad(), own.row("forward"):
            wanted = teacher(images)
        weak = torch.cat([few, images + 0.1 * torch.randn_like(images)])
        with own.row("forward"):
            out = net(weak)
        with own.row("loss"):
            loss = F.cross_entropy(out[: len(few)], labels)
            loss = loss + F.mse_loss(out[len(few) :].softmax(1), wanted.softmax(1))
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        with torch.no_grad(), own.row("own_update"):
            for old, new in zip(teacher.parameters(), net.parameters()):
                old.mul_(0.99).add_(new, alpha=0.01)
        own.step()
own.show()
