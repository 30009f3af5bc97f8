# SPDX-License-Identifier: Apache-2.0
"""Unconditional diffusion by diffusers: a UNet2D, an average, samples by a pipeline."""

import timers as own
import vision  # noqa: F401
import torch
from diffusers import DDPMPipeline, DDPMScheduler, UNet2DModel
from diffusers.training_utils import EMAModel
from small import Images
from torch.utils.data import DataLoader

net = UNet2DModel(
    sample_size=16,
    block_out_channels=(32, 32),
    down_block_types=("DownBlock2D", "DownBlock2D"),
    up_block_types=("UpBlock2D", "UpBlock2D"),
    layers_per_block=1,
)
noises = DDPMScheduler(num_train_timesteps=100)
average = EMAModel(net.parameters())
optimizer = torch.optim.AdamW(net.parameters())
loader = DataLoader(Images(15 * 8, size=16), batch_size=8)
for epoch in own.epochs(2):
    net.train()
    for images, _ in own.batches(loader):
        noise, times = torch.randn_like(images), torch.randint(0, 100, (len(images),))
        mixed = noises.add_noise(images, noise, times)
        with own.row("forward"):
            out = net(mixed, times).sample
        with own.row("loss"):
            loss = torch.nn.functional.mse_loss(out, noise)
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("bookkeeping"):
            average.step(net.parameters())
        own.step()
    pipeline = DDPMPipeline(net, noises)
    pipeline.set_progress_bar_config(disable=True)
    with own.row("evaluation"):
        pipeline(batch_size=2, num_inference_steps=10)
    with own.row("checkpoint"):
        pipeline.save_pretrained("out")
own.show()
