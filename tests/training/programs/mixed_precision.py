# SPDX-License-Identifier: Apache-2.0
"""autocast and a GradScaler, as for a GPU, on the processor."""

import timers as own
import torch
from small import ConvNet, Images
from torch.utils.data import DataLoader

net = ConvNet(width=16)
optimizer = torch.optim.AdamW(net.parameters())
scaler = torch.amp.GradScaler("cpu")
loader = DataLoader(Images(20 * 16), batch_size=16)
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            with own.row("forward"):
                out = net(images)
            with own.row("loss"):
                loss = torch.nn.functional.cross_entropy(out, labels)
        with own.row("backward"):
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1)
        with own.row("optimizer"):
            scaler.step(optimizer)
        scaler.update()
        own.step()
own.show()
