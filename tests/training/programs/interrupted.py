# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C in the middle of an epoch: the loop saves what it has and ends."""

import os
import signal

import timers as own
import torch
from small import ConvNet, Images, timed_step
from torch.utils.data import DataLoader

net = ConvNet()
optimizer = torch.optim.AdamW(net.parameters())
loader = DataLoader(Images(40 * 16, ms=1), batch_size=16, num_workers=1, persistent_workers=True)
try:
    for epoch in own.epochs(5):
        for number, (images, labels) in enumerate(own.batches(loader)):
            timed_step(net, optimizer, images, labels)
            if (epoch, number) == (1, 20):
                os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    with own.row("checkpoint"):
        torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, "stopped.pt")
own.show()
