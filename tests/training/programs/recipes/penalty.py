# SPDX-License-Identifier: Apache-2.0
"""A critic with a penalty on its gradients: torch.autograd.grad inside each of five steps."""

import timers as own
import torch
from small import Images, conv
from torch import nn
from torch.utils.data import DataLoader

generator = nn.Sequential(
    nn.ConvTranspose2d(32, 32, 8), nn.ReLU(), nn.ConvTranspose2d(32, 3, 4, 4), nn.Tanh()
)
critic = conv(1, 16)
optimizer_g = torch.optim.RMSprop(generator.parameters(), 5e-5)
optimizer_c = torch.optim.RMSprop(critic.parameters(), 5e-5)
loader = DataLoader(Images(30 * 8), batch_size=8, shuffle=True)


def forward(net, x):
    with own.row("forward"):
        return net(x)


def penalty(real, fake):
    share = torch.rand(len(real), 1, 1, 1)
    mixed = (share * real + (1 - share) * fake).requires_grad_()
    out = forward(critic, mixed)
    with own.row("backward"):
        (slope,) = torch.autograd.grad(out.sum(), mixed, create_graph=True)
    with own.row("loss"):
        return 10 * ((slope.flatten(1).norm(2, 1) - 1) ** 2).mean()


for epoch in own.epochs(2):
    for number, (real, _) in enumerate(own.batches(loader)):
        noise = torch.randn(len(real), 32, 1, 1)
        with torch.no_grad():
            fake = forward(generator, noise)
        a, b = forward(critic, real), forward(critic, fake)
        with own.row("loss"):
            loss = b.mean() - a.mean()
        loss = loss + penalty(real, fake)
        with own.row("zero_grad"):
            optimizer_c.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer_c.step()
        if number % 5 == 4:
            made = forward(generator, noise)
            out = forward(critic, made)
            with own.row("loss"):
                loss = -out.mean()
            with own.row("zero_grad"):
                optimizer_g.zero_grad()
            with own.row("backward"):
                loss.backward()
            with own.row("optimizer"):
                optimizer_g.step()
        own.step()
own.show()
