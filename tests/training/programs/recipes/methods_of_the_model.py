# SPDX-License-Identifier: Apache-2.0
"""The loop calls methods of the model (encode, decode, losses), never the model itself."""

import timers as own
import torch
from small import Images, mlp
from torch import nn
from torch.utils.data import DataLoader


class Codes(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = mlp(768, 64, 256, 2), mlp(32, 768, 256, 2)

    def encode(self, x):
        return self.encoder(x.flatten(1)).chunk(2, 1)

    def decode(self, z):
        return self.decoder(z)

    def losses(self, x):
        with own.row("forward"):
            mean, width = self.encode(x)
        with own.row("loss"):
            z = mean + torch.randn_like(mean) * (width / 2).exp()
        with own.row("forward"):
            out = self.decode(z)
        with own.row("loss"):
            again = (out - x.flatten(1)).pow(2).sum(1).mean()
            return again, -0.5 * (1 + width - mean**2 - width.exp()).sum(1).mean()


net = Codes()
optimizer = torch.optim.Adam(net.parameters())
loader = DataLoader(Images(40 * 64, 16), batch_size=64, shuffle=True, num_workers=1)
for epoch in own.epochs(2):
    net.train()
    for images, _ in own.batches(loader):
        losses = net.losses(images)
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            sum(losses).backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
    net.eval()
    with torch.no_grad(), own.row("evaluation"):
        for _ in range(10):
            net.decode(torch.randn(256, 32))
own.show(loose=["loss"])
