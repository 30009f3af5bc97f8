# SPDX-License-Identifier: Apache-2.0
"""Two views through a query and a momentum encoder, a queue of keys."""

import timers as own
import torch
from small import Images, conv
from torch.nn import functional as F
from torch.utils.data import DataLoader


class Views(Images):
    def __getitem__(self, index):
        image, _ = super().__getitem__(index)
        return image.flip(-1), image + 0.1 * torch.randn_like(image)


query, key = conv(64), conv(64)
key.load_state_dict(query.state_dict())
queue = F.normalize(torch.randn(64, 1024), dim=0)
optimizer = torch.optim.SGD(query.parameters(), lr=0.03, momentum=0.9)
loader = DataLoader(Views(30 * 16), batch_size=16, shuffle=True)
at = 0
for epoch in own.epochs(2):
    for first, second in own.batches(loader):
        with own.row("forward"):
            q = query(first)
        with own.row("loss"):
            q = F.normalize(q, dim=1)
        with torch.no_grad():
            for slow, fast in zip(key.parameters(), query.parameters()):
                slow.data.mul_(0.999).add_(fast.data, alpha=0.001)
            with own.row("forward"):
                k = key(second)
            k = F.normalize(k, dim=1)
        with own.row("loss"):
            alike = torch.cat([(q * k).sum(1, keepdim=True), q @ queue], 1) / 0.07
            with own.row("loss"):
                loss = F.cross_entropy(alike, torch.zeros(len(q), dtype=torch.long))
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        queue[:, at : at + 16] = k.T
        at = (at + 16) % 1024
        own.step()
own.show()
