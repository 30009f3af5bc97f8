# SPDX-License-Identifier: Apache-2.0
"""Cross-validation: a new model, optimizer and loaders for each of three folds."""

import timers as own
import torch
from small import ConvNet, Images
from torch.utils.data import DataLoader, Subset

data = Images(360)
for fold in range(3):
    held = set(range(fold * 120, fold * 120 + 120))
    train = DataLoader(
        Subset(data, [i for i in range(360) if i not in held]), batch_size=16, shuffle=True
    )
    valid = DataLoader(Subset(data, sorted(held)), batch_size=40)
    net = ConvNet()
    optimizer = torch.optim.Adam(net.parameters())
    for epoch in own.epochs(2):
        net.train()
        for images, labels in own.batches(train):
            with own.row("zero_grad"):
                optimizer.zero_grad()
            with own.row("forward"):
                out = net(images)
            with own.row("loss"):
                loss = torch.nn.functional.cross_entropy(out, labels)
            with own.row("backward"):
                loss.backward()
            with own.row("optimizer"):
                optimizer.step()
            own.step()
        net.eval()
        with own.row("validation"), torch.no_grad():
            for images, labels in valid:
                net(images)
own.show()
