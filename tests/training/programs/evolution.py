# SPDX-License-Identifier: Apache-2.0
"""Evolution strategies: gradients from the losses of changed weights, no backward."""

import timers as own
import torch
from small import ConvNet, Images
from torch.nn import functional as F
from torch.utils.data import DataLoader

net = ConvNet()
weights = list(net.parameters())
optimizer = torch.optim.Adam(weights)
for epoch in own.epochs(2):
    for images, labels in own.batches(DataLoader(Images(20 * 16), batch_size=16)):
        with torch.no_grad():
            gradients = [torch.zeros_like(w) for w in weights]
            for _ in range(5):
                changes = [0.01 * torch.randn_like(w) for w in weights]
                torch._foreach_add_(weights, changes)
                with own.row("forward"):
                    out = net(images)
                loss = F.cross_entropy(out, labels).item()
                torch._foreach_sub_(weights, changes)
                torch._foreach_add_(gradients, changes, alpha=loss)
            for w, gradient in zip(weights, gradients):
                w.grad = gradient
        with own.row("optimizer"):
            optimizer.step()
        own.step()
own.show()
