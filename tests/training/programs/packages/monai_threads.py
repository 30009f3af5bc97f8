# SPDX-License-Identifier: Apache-2.0
"""Segmentation by MONAI: a UNet, a cached data set and its ThreadDataLoader."""

import timers as own
import torch
from monai.data import CacheDataset, ThreadDataLoader
from monai.losses import DiceLoss
from monai.networks.nets import UNet
from monai.transforms import Compose, RandFlip, RandGaussianNoise, ScaleIntensity

torch.set_num_threads(1)
data = CacheDataset(
    [torch.randn(1, 48, 48) for _ in range(160)],
    Compose([ScaleIntensity(), RandFlip(0.5), RandGaussianNoise(1.0)]),
    progress=False,
)
loader = ThreadDataLoader(data, batch_size=8, num_workers=0)
net = UNet(2, 1, 1, (8, 16, 32), (2, 2))
loss_of = DiceLoss(sigmoid=True)
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
for epoch in own.epochs(3):
    for images in own.batches(loader):
        with own.row("zero_grad"):
            optimizer.zero_grad()
        images = images.as_tensor()
        with own.row("forward"):
            out = net(images)
        with own.row("loss"):
            loss = loss_of(out, (images > 0.5).float())
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
own.show()
