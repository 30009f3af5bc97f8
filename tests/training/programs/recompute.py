# SPDX-License-Identifier: Apache-2.0
"""Activation checkpointing: forward runs again inside backward."""

import timers as own
import torch
from small import Language
from torch.utils.checkpoint import checkpoint


class Cheap(Language):
    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.head(x)


net = Cheap()
optimizer = torch.optim.AdamW(net.parameters())
for _ in range(40):
    tokens = torch.randint(0, 256, (8, 65))
    with own.row("forward"):
        out = net(tokens[:, :-1])
    with own.row("loss"):
        loss = torch.nn.functional.cross_entropy(out.flatten(0, 1), tokens[:, 1:].flatten())
    with own.row("backward"):
        loss.backward()
    with own.row("optimizer"):
        optimizer.step()
    with own.row("zero_grad"):
        optimizer.zero_grad()
    own.step()
own.show(epochs=None)
