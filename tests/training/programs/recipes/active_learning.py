# SPDX-License-Identifier: Apache-2.0
"""Active learning: each round trains a new model on a growing set, then scores the whole pool."""

import timers as own
import torch
from small import ConvNet, Images, timed_step
from torch.utils.data import DataLoader, Subset

pool = Images(640)
chosen, rest = list(range(160)), list(range(160, 640))
for round_number in range(3):
    net = ConvNet(width=16)
    optimizer = torch.optim.Adam(net.parameters())
    loader = DataLoader(Subset(pool, chosen), batch_size=16, shuffle=True)
    for epoch in own.epochs(2):
        net.train()
        for images, labels in own.batches(loader):
            timed_step(net, optimizer, images, labels)
    net.eval()
    scores = []
    with torch.no_grad(), own.row("validation"):
        for images, _ in DataLoader(Subset(pool, rest), batch_size=32):
            share = net(images).softmax(1)
            scores.append(-(share * share.log()).sum(1))
    order = torch.cat(scores).argsort(descending=True)[:80].tolist()
    picked = {rest[i] for i in order}
    chosen += sorted(picked)
    rest = [i for i in rest if i not in picked]
own.show()
