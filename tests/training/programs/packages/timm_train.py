# SPDX-License-Identifier: Apache-2.0
"""A small ViT of timm with its loader-free parts: mixup, its optimizer, schedule and EMA."""

import timers as own
import torch
import vision  # noqa: F401
import timm
from small import Images
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import ModelEmaV3
from torch.utils.data import DataLoader

net = timm.models.VisionTransformer(
    img_size=32, patch_size=8, embed_dim=96, depth=3, num_heads=3, num_classes=10
)
mix = Mixup(mixup_alpha=0.8, num_classes=10)
optimizer = create_optimizer_v2(net, opt="adamw", lr=1e-3, weight_decay=0.05)
schedule = CosineLRScheduler(optimizer, t_initial=2)
average = ModelEmaV3(net, decay=0.99)
loss_of = SoftTargetCrossEntropy()
train, valid = (DataLoader(Images(n * 16), batch_size=16) for n in (30, 8))
for epoch in own.epochs(2):
    net.train()
    for images, labels in own.batches(train):
        images, labels = mix(images, labels)
        with own.row("forward"):
            out = net(images)
        with own.row("loss"):
            loss = loss_of(out, labels)
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        with own.row("bookkeeping"):
            average.update(net)
        own.step()
    schedule.step(epoch)
    net.eval()
    with own.row("validation"), torch.no_grad():
        for images, labels in valid:
            average.module(images)
own.show()
