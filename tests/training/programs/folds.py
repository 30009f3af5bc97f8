# SPDX-License-Identifier: Apache-2.0
"""Cross-validation: a new model, optimizer and loaders for each of three folds."""

import timers as own
import torch
from small import ConvNet, Images, timed_step
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
            timed_step(net, optimizer, images, labels)
        net.eval()
        with own.row("validation"), torch.no_grad():
            for images, labels in valid:
                net(images)
own.show()
