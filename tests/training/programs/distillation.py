# SPDX-License-Identifier: Apache-2.0
"""A teacher without gradients and a student that learns from it."""

import timers as own
import torch
from small import ConvNet, Images
from torch.nn import functional as F
from torch.utils.data import DataLoader

teacher, student = ConvNet(width=48).eval(), ConvNet(width=16)
optimizer = torch.optim.SGD(student.parameters(), lr=0.01)
loader = DataLoader(Images(40 * 16), batch_size=16)
for epoch in own.epochs(2):
    student.train()
    for images, labels in own.batches(loader):
        with own.row("forward"), torch.no_grad():
            wanted = teacher(images)
        with own.row("forward"):
            out = student(images)
        with own.row("loss"):
            soft = F.kl_div(
                F.log_softmax(out / 4, 1), F.softmax(wanted / 4, 1), reduction="batchmean"
            )
            with own.row("loss"):
                loss = 16 * soft + F.cross_entropy(out, labels)
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
own.show()
