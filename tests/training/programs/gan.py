# SPDX-License-Identifier: Apache-2.0
"""A GAN: two models, two optimizers, both stepped for each batch."""

import timers as own
import torch
from small import Images, conv
from torch import nn
from torch.utils.data import DataLoader

latent = 32
generator = nn.Sequential(
    nn.ConvTranspose2d(latent, 64, 8), nn.ReLU(),
    nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.ReLU(),
    nn.ConvTranspose2d(32, 3, 4, 2, 1), nn.Tanh(),
)  # fmt: skip
critic = conv(1)
loss_of = nn.BCEWithLogitsLoss()
optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizer_d = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
loader = DataLoader(Images(24 * 16), batch_size=16, shuffle=True)
for epoch in own.epochs(2):
    for real, _ in own.batches(loader):
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        with own.row("zero_grad"):
            critic.zero_grad()
        with own.row("forward"):
            out = critic(real)
        with own.row("loss"):
            loss_real = loss_of(out, ones)
        with own.row("backward"):
            loss_real.backward()
        with own.row("loss"):
            noise = torch.randn(len(real), latent, 1, 1)
        with own.row("forward"):
            fake = generator(noise)
            out = critic(fake.detach())
        with own.row("loss"):
            loss_fake = loss_of(out, zeros)
        with own.row("backward"):
            loss_fake.backward()
        with own.row("optimizer"):
            optimizer_d.step()
        with own.row("zero_grad"):
            generator.zero_grad()
        with own.row("forward"):
            out = critic(fake)
        with own.row("loss"):
            loss_g = loss_of(out, ones)
        with own.row("backward"):
            loss_g.backward()
        with own.row("optimizer"):
            optimizer_g.step()
        own.step()
own.show()
