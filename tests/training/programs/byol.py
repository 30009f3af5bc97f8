# SPDX-License-Identifier: Apache-2.0
"""Self-supervised: two views, a teacher without gradients, whose weights follow by hand."""

import copy

import timers as own
import torch
from small import Images, conv, mlp
from torch.nn import functional as F
from torch.utils.data import DataLoader

student, predictor = conv(64, 24), mlp(64, 64, 256, 1)
teacher = copy.deepcopy(student)
for value in teacher.parameters():
    value.requires_grad_(False)
optimizer = torch.optim.SGD([*student.parameters(), *predictor.parameters()], lr=0.05)
loader = DataLoader(Images(30 * 16), batch_size=16)
for epoch in own.epochs(2):
    for images, _ in own.batches(loader):
        with own.row("own_input"):
            one = images + 0.1 * torch.randn_like(images)
            two = images.flip(3) + 0.1 * torch.randn_like(images)
        with own.row("forward"):
            wanted = teacher(two)
        with own.row("forward"):
            seen = student(one)
        with own.row("forward"):
            told = predictor(seen)
        with own.row("loss"):
            loss = 2 - 2 * F.cosine_similarity(told, wanted.detach()).mean()
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        with own.row("own_update"), torch.no_grad():
            for mine, his in zip(teacher.parameters(), student.parameters()):
                mine.lerp_(his, 0.01)
        own.step()
own.show()
