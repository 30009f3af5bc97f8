# SPDX-License-Identifier: Apache-2.0
"""A Wasserstein critic with a gradient penalty; the generator steps at each fifth batch."""

import timers as own
import torch
from small import mlp
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
generator, critic = mlp(16, 256, 256, 2), mlp(256, 1, 256, 2)
optimizer_g = torch.optim.RMSprop(generator.parameters(), lr=5e-5)
optimizer_c = torch.optim.RMSprop(critic.parameters(), lr=5e-5)
loader = DataLoader(TensorDataset(torch.randn(50 * 64, 256)), batch_size=64, shuffle=True)
for epoch in own.epochs(3):
    for number, (real,) in enumerate(own.batches(loader)):
        with own.row("zero_grad"):
            optimizer_c.zero_grad()
        noise = torch.randn(len(real), 16)
        with own.row("forward"):
            fake = generator(noise)
        fake = fake.detach()
        with own.row("forward"):
            told = critic(fake), critic(real)
        with own.row("loss"):
            told = told[0].mean() - told[1].mean()
            share = torch.rand(len(real), 1)
            mixed = (share * real + (1 - share) * fake).requires_grad_()
        with own.row("forward"):
            out = critic(mixed)
        with own.row("backward"):
            gradient = torch.autograd.grad(out.sum(), mixed, create_graph=True)[0]
        with own.row("loss"):
            loss = told + 10 * ((gradient.norm(dim=1) - 1) ** 2).mean()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer_c.step()
        if number % 5 == 4:
            with own.row("zero_grad"):
                optimizer_g.zero_grad()
            with own.row("forward"):
                out = critic(generator(torch.randn(len(real), 16)))
            loss = -out.mean()
            with own.row("backward"):
                loss.backward()
            with own.row("optimizer"):
                optimizer_g.step()
        own.step()
own.show()
