# SPDX-License-Identifier: Apache-2.0
"""A loop of accelerate: prepare, accumulate, backward, gathered metrics, saved state."""

import timers as own
import torch
from accelerate import Accelerator
from small import ConvNet, Images
from torch.utils.data import DataLoader

accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
net = ConvNet()
optimizer = torch.optim.AdamW(net.parameters())
train, valid = (DataLoader(Images(n * 16), batch_size=16, shuffle=True) for n in (24, 6))
schedule = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=50)
net, optimizer, train, valid, schedule = accelerator.prepare(net, optimizer, train, valid, schedule)
inner = optimizer.optimizer  # the wrapper does nothing where gradients accumulate
inner.step = own.timed("optimizer", inner.step)
for epoch in own.epochs(2):
    net.train()
    for images, labels in own.batches(train):
        with accelerator.accumulate(net):
            with own.row("forward"):
                out = net(images)
            with own.row("loss"):
                loss = torch.nn.functional.cross_entropy(out, labels)
            with own.row("backward"):
                accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(net.parameters(), 1.0)
                own.step()
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    net.eval()
    with own.row("validation"), torch.no_grad():
        for images, labels in valid:
            out = accelerator.gather_for_metrics((net(images).argmax(1), labels))
    with own.row("checkpoint"):
        accelerator.save_state(f"state-{epoch}")
own.show()
