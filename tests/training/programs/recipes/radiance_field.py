# SPDX-License-Identifier: Apache-2.0
"""A field of rays: random indices of a tensor in memory, some pictures rendered and saved."""

import timers as own
import torch
from PIL import Image
from small import mlp
from torch import nn

RAYS, SAMPLES, SIDE = 256, 24, 40


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = mlp(39, 4, 64, 3)

    def forward(self, points):
        angles = [f(2**k * points) for k in range(6) for f in (torch.sin, torch.cos)]
        return self.body(torch.cat([points, *angles], -1))


def render(net, rays, timed=True):
    depth = torch.linspace(0, 1, SAMPLES)
    points = rays[:, None, :3] + depth[:, None] * rays[:, None, 3:]
    if timed:
        with own.row("forward"):
            out = net(points)
    else:
        out = net(points)
    alpha = 1 - torch.exp(-torch.relu(out[..., 3]) / SAMPLES)
    passed = torch.cumprod(1 - alpha + 1e-10, -1)
    return ((alpha * passed)[..., None] * out[..., :3].sigmoid()).sum(1)


generator = torch.Generator().manual_seed(0)
rays, colours = torch.rand(20000, 6, generator=generator), torch.rand(20000, 3)
net = Field()
optimizer = torch.optim.Adam(net.parameters(), 5e-4)
for number in range(90):
    chosen = torch.randint(len(rays), (RAYS,))
    out = render(net, rays[chosen])
    with own.row("loss"):
        loss = ((out - colours[chosen]) ** 2).mean()
    with own.row("zero_grad"):
        optimizer.zero_grad()
    with own.row("backward"):
        loss.backward()
    with own.row("optimizer"):
        optimizer.step()
    own.step()
    if number % 30 == 29:
        with torch.no_grad(), own.row("evaluation"):
            parts = [render(net, part, False) for part in rays[: SIDE * SIDE].split(RAYS)]
        with own.row("rest"):
            picture = (255 * torch.cat(parts)).byte().view(SIDE, SIDE, 3).numpy()
            Image.fromarray(picture).resize((400, 400)).save(f"{number}.png")
own.rows.pop("rest", None)
own.show(epochs=None, loose=["loss"])
