# SPDX-License-Identifier: Apache-2.0
"""A variational autoencoder whose loop calls encode and decode, never forward."""

import timers as own
import torch
from small import Images
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader


class Vae(nn.Module):
    def __init__(self, width=400, latent=32):
        super().__init__()
        self.first, self.mean = nn.Linear(3072, width), nn.Linear(width, latent)
        self.variance = nn.Linear(width, latent)
        self.second, self.out = nn.Linear(latent, width), nn.Linear(width, 3072)

    def encode(self, x):
        h = F.relu(self.first(x))
        return self.mean(h), self.variance(h)

    def decode(self, z):
        return torch.sigmoid(self.out(F.relu(self.second(z))))


net = Vae()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
loader = DataLoader(Images(40 * 64), batch_size=64)
for epoch in own.epochs(2):
    for images, _ in own.batches(loader):
        x = images.flatten(1)
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("forward"):
            mean, variance = net.encode(x)
            z = mean + torch.randn_like(mean) * (0.5 * variance).exp()
            out = net.decode(z)
        with own.row("loss"):
            loss = F.mse_loss(out, x, reduction="sum")
            loss = loss - 0.5 * (1 + variance - mean**2 - variance.exp()).sum()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
    with own.row("evaluation"), torch.no_grad():
        net.decode(torch.randn(256, 32))
own.show(loose=["forward"])
