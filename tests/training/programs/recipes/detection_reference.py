# SPDX-License-Identifier: Apache-2.0
"""Detection as reference scripts do it: lists of targets, smoothed meters, a slow evaluator."""

import collections
import statistics

import timers as own
import torch
from small import Images
from torch import nn
from torch.utils.data import DataLoader


class Boxes(Images):
    def __getitem__(self, index):
        image, label = super().__getitem__(index)
        return image, {"boxes": torch.rand(3, 4), "labels": torch.full((3,), label)}


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 24, 3, 2, 1), nn.ReLU(), nn.Conv2d(24, 48, 3, 1, 1), nn.ReLU()
        )
        self.head = nn.Conv2d(48, 15, 1)

    def forward(self, images, targets=None):
        out = self.head(self.backbone(torch.stack(images))).mean((2, 3)).view(len(images), 3, 5)
        if targets is None:
            return [{"boxes": o[:, :4], "scores": o[:, 4].sigmoid()} for o in out]
        boxes = torch.stack([t["boxes"] for t in targets])
        return {"box": (out[..., :4] - boxes).abs().mean(), "score": out[..., 4].pow(2).mean()}


class Meter:
    def __init__(self):
        self.window, self.total, self.count = collections.deque(maxlen=20), 0.0, 0

    def update(self, value):
        self.window.append(value)
        self.total += value
        self.count += 1

    def __str__(self):
        return f"{statistics.median(self.window):.4f} ({self.total / self.count:.4f})"


def overlap(found, true):
    total = 0.0
    for a in found["boxes"].tolist():
        for b in true["boxes"].tolist():
            sides = [max(0.0, min(a[k + 2], b[k + 2]) - max(a[k], b[k])) for k in (0, 1)]
            total += sides[0] * sides[1]
    return total


def collate(batch):
    return tuple(zip(*batch))


@torch.inference_mode()
def evaluate(net, loader):
    net.eval()
    results = {}
    for images, targets in loader:
        for target, out in zip(targets, net(list(images))):
            results[len(results)] = overlap(out, target)
    return sum(results.values())


net = Detector()
optimizer = torch.optim.SGD(net.parameters(), 0.005, momentum=0.9, weight_decay=5e-4)
learned = DataLoader(Boxes(30 * 8, 64), 8, shuffle=True, num_workers=1, collate_fn=collate)
held = DataLoader(Boxes(10 * 8, 64), 8, num_workers=1, collate_fn=collate)
for epoch in own.epochs(2):
    net.train()
    meters = collections.defaultdict(Meter)
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.001, total_iters=29)
    for images, targets in own.batches(learned):
        with own.row("forward"):
            losses = net(list(images), list(targets))
        loss = sum(losses.values())
        for name, value in losses.items():
            meters[name].update(value.item())
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        if epoch == 0:
            warmup.step()
        meters["lr"].update(optimizer.param_groups[0]["lr"])
        own.step()
    print({name: str(meter) for name, meter in meters.items()})
    with own.row("validation"):
        evaluate(net, held)
    with own.row("checkpoint"):
        torch.save({"model": net.state_dict(), "optimizer": optimizer.state_dict()}, "last.pt")
own.show(loose=["loss"])
