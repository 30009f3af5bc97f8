# SPDX-License-Identifier: Apache-2.0
"""The optimizer has the parameters of the model's parts, and the model works between them."""

import timers as own
import torch
from small import Images, mlp
from torch import nn
from torch.utils.data import DataLoader

weights = nn.Parameter(torch.zeros(3))
parts = nn.ModuleList([mlp(768, 256, 256, 2) for _ in range(3)])
head = nn.Linear(256, 10)


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights, self.parts, self.head = weights, parts, head

    def forward(self, x):
        share = self.weights.softmax(0)
        x = sum(w * torch.sort(part(x), 1)[0] for w, part in zip(share, self.parts))
        return self.head(x)


net = Mixed()
optimizer = torch.optim.Adam([weights, *parts.parameters(), *head.parameters()])
loader = DataLoader(Images(40 * 64, 16), batch_size=64, shuffle=True, num_workers=1)
for epoch in own.epochs(3):
    for images, labels in own.batches(loader):
        with own.row("forward"):
            out = net(images.flatten(1))
        with own.row("loss"):
            loss = nn.functional.cross_entropy(out, labels)
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
own.show()
