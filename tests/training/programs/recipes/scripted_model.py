# SPDX-License-Identifier: Apache-2.0
"""A model traced to TorchScript, and fake quantised weights computed before each of its calls."""

import timers as own
import torch
from small import Images, conv, timed_step
from torch.utils.data import DataLoader

net = torch.jit.trace(conv(10, 24).train(), torch.randn(16, 3, 32, 32), check_trace=False)
optimizer = torch.optim.SGD(net.parameters(), 0.05)
loader = DataLoader(Images(30 * 16, ms=0.2), batch_size=16, shuffle=True)
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        with torch.no_grad(), own.row("own_update"):
            for weight in net.parameters():
                size = weight.abs().max() / 127
                weight.copy_((weight / size).round() * size)
        timed_step(net, optimizer, images, labels)
own.show()
