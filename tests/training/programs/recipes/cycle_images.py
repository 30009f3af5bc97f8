# SPDX-License-Identifier: Apache-2.0
"""Two generators and two critics with three optimizers, a pool of old pictures, and schedulers."""

import itertools
import random

import timers as own
import torch
from small import Images, conv
from torch import nn
from torch.utils.data import DataLoader


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 3, 3, padding=1), nn.Tanh()
        )

    def forward(self, x):
        return self.body(x)


class Pool:
    def __init__(self):
        self.images = []

    def query(self, images):
        given = []
        for image in images.detach():
            if len(self.images) < 20:
                self.images.append(image.clone())
                given.append(image)
            elif random.random() > 0.5:
                place = random.randrange(20)
                given.append(self.images[place])
                self.images[place] = image.clone()
            else:
                given.append(image)
        return torch.stack(given)


def call(net, images):
    with own.row("forward"):
        return net(images)


def critic_loss(critic, real, fake):
    a, b = call(critic, real), call(critic, fake)
    with own.row("loss"):
        return ((a - 1) ** 2).mean() + (b**2).mean()


def run(loss, *optimizers):
    with own.row("backward"):
        loss.backward()
    for optimizer in optimizers:
        with own.row("optimizer"):
            optimizer.step()


g_ab, g_ba, d_a, d_b = Generator(), Generator(), conv(1, 16), conv(1, 16)
both = itertools.chain(g_ab.parameters(), g_ba.parameters())
optimizer_g = torch.optim.Adam(both, 2e-4, betas=(0.5, 0.999))
optimizer_a = torch.optim.Adam(d_a.parameters(), 2e-4)
optimizer_b = torch.optim.Adam(d_b.parameters(), 2e-4)
schedules = [
    torch.optim.lr_scheduler.LambdaLR(o, lambda epoch: 1 / (1 + epoch))
    for o in (optimizer_g, optimizer_a, optimizer_b)
]
pool_a, pool_b = Pool(), Pool()
loader = DataLoader(Images(25 * 8, ms=0.3), batch_size=8, shuffle=True, num_workers=1)
for epoch in own.epochs(2):
    for real, _ in own.batches(loader):
        a, b = real[:4], real[4:]
        with own.row("zero_grad"):
            optimizer_g.zero_grad()
        fake_b, fake_a = call(g_ab, a), call(g_ba, b)
        judged = call(d_b, fake_b), call(d_a, fake_a)
        back_a, back_b = call(g_ba, fake_b), call(g_ab, fake_a)
        with own.row("loss"):
            loss = sum(((j - 1) ** 2).mean() for j in judged)
            loss = loss + 10 * ((back_a - a).abs().mean() + (back_b - b).abs().mean())
        run(loss, optimizer_g)
        for critic, optimizer, real_one, fake, pool in (
            (d_a, optimizer_a, a, fake_a, pool_a),
            (d_b, optimizer_b, b, fake_b, pool_b),
        ):
            with own.row("zero_grad"):
                optimizer.zero_grad()
            with own.row("rest"):
                old = pool.query(fake)
            run(critic_loss(critic, real_one, old), optimizer)
        own.step()
    for schedule in schedules:
        schedule.step()
own.rows.pop("rest", None)
own.show()
