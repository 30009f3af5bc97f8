# SPDX-License-Identifier: Apache-2.0
"""Deep supervision: outputs at three depths with a loss each, dice scores in validation."""

import timers as own
import torch
from small import Images
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader


def part(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        w = width
        self.down = nn.ModuleList([part(3, w), part(w, 2 * w), part(2 * w, 4 * w)])
        self.up = nn.ModuleList([part(6 * w, 2 * w), part(3 * w, w)])
        self.heads = nn.ModuleList(nn.Conv2d(c, 2, 1) for c in (4 * w, 2 * w, w))

    def forward(self, x):
        skips = []
        for down in self.down:
            x = down(x)
            skips.append(x)
            x = F.max_pool2d(x, 2)
        x = skips[-1]
        outs = [self.heads[0](x)]
        for number, up in enumerate(self.up):
            x = F.interpolate(x, scale_factor=2)
            x = up(torch.cat([x, skips[1 - number]], 1))
            outs.append(self.heads[number + 1](x))
        return outs


def masks(images):
    return (images.mean(1) > 0).long()


net = UNet()
optimizer = torch.optim.Adam(net.parameters())
train = DataLoader(Images(24 * 8), batch_size=8, shuffle=True)
valid = DataLoader(Images(6 * 8), batch_size=8)
for epoch in own.epochs(2):
    net.train()
    for images, _ in own.batches(train):
        wanted = masks(images)
        with own.row("forward"):
            outs = net(images)
        with own.row("loss"):
            loss = 0
            for weight, out in zip((0.25, 0.5, 1), outs):
                out = F.interpolate(out, size=wanted.shape[1:])
                with own.row("loss"):
                    loss = loss + weight * F.cross_entropy(out, wanted)
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
    net.eval()
    with own.row("validation"), torch.no_grad():
        for images, _ in valid:
            told, wanted = net(images)[-1].argmax(1), masks(images)
            dice = 2 * (told * wanted).sum() / (told.sum() + wanted.sum())
own.show()
