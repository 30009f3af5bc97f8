# SPDX-License-Identifier: Apache-2.0
"""Denoising of noise: an average of the weights, samples at the end of each epoch, a checkpoint."""

import timers as own
import torch
from small import Images
from torch import nn
from torch.utils.data import DataLoader


class Noise(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.time = nn.Linear(1, width)
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.body = nn.Sequential(
            nn.GroupNorm(4, width), nn.SiLU(), nn.Conv2d(width, width, 3, padding=1), nn.SiLU()
        )
        self.last = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x, t):
        x = self.first(x) + self.time(t[:, None])[:, :, None, None]
        return self.last(self.body(x) + x)


net = Noise()
average = torch.optim.swa_utils.AveragedModel(
    net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.999)
)
optimizer = torch.optim.AdamW(net.parameters())
loader = DataLoader(Images(20 * 8), batch_size=8, shuffle=True)


@torch.inference_mode()
def sample(many, times):
    x = torch.randn(many, 3, 32, 32)
    for step in reversed(range(times)):
        told = average(x, torch.full((many,), step / times))
        x = (x - 0.02 * told) / 0.99 + 0.1 * torch.randn_like(x)
    return x


for epoch in own.epochs(3):
    for images, _ in own.batches(loader):
        noise, t = torch.randn_like(images), torch.rand(len(images))
        mixed = (1 - t)[:, None, None, None] * images + t[:, None, None, None] * noise
        with own.row("forward"):
            out = net(mixed, t)
        with own.row("loss"):
            loss = nn.functional.mse_loss(out, noise)
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        with own.row("bookkeeping"):
            average.update_parameters(net)
        own.step()
    with own.row("evaluation"):
        sample(4, 12)
    with own.row("checkpoint"):
        torch.save(average.state_dict(), "average.pt")
own.show()
