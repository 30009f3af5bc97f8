# SPDX-License-Identifier: Apache-2.0
"""Contrastive: pairs from two loaders of two lengths, zipped; the shorter one starts again."""

import timers as own
import torch
from small import Images, conv
from torch.nn import functional as F
from torch.utils.data import DataLoader

left, right = conv(64, 24), conv(64, 24)
optimizer = torch.optim.AdamW([*left.parameters(), *right.parameters()])
many = DataLoader(Images(40 * 16, ms=0.5), batch_size=16, num_workers=1)
few = DataLoader(Images(15 * 16, ms=0.5), batch_size=16)


def again(loader):
    while True:
        yield from own.batches(loader)


for epoch in own.epochs(2):
    others = again(few)
    for images, _ in own.batches(many):
        other, _ = next(others)
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("forward"):
            a = left(images)
        with own.row("forward"):
            b = right(other)
        with own.row("loss"):
            logits = F.normalize(a) @ F.normalize(b).T / 0.1
            loss = F.cross_entropy(logits, torch.arange(16))
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
own.show()
