# SPDX-License-Identifier: Apache-2.0
"""Each weight is updated by its own optimizer in a hook of backward, to save memory."""

import timers as own
import torch
from small import Images, mlp
from torch import nn
from torch.utils.data import DataLoader

net = nn.Sequential(nn.Flatten(), mlp(3 * 16 * 16, 10, 384, 3))
optimizers = {weight: torch.optim.AdamW([weight], foreach=False) for weight in net.parameters()}


def update(weight):
    with own.row("optimizer"):
        optimizers[weight].step()
    with own.row("zero_grad"):
        optimizers[weight].zero_grad()


for weight in net.parameters():
    weight.register_post_accumulate_grad_hook(update)
loader = DataLoader(Images(40 * 32, 16), batch_size=32, shuffle=True)
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        with own.row("forward"):
            out = net(images)
        with own.row("loss"):
            loss = nn.functional.cross_entropy(out, labels)
        with own.row("backward"):
            loss.backward()
        own.step()
own.show()
