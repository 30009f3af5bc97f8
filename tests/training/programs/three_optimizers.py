# SPDX-License-Identifier: Apache-2.0
"""One loss, and an optimizer for each kind of parameters: three calls of step in one step."""

import timers as own
import torch
from small import ConvNet, Images
from torch.utils.data import DataLoader

net = ConvNet()
kinds = {"matrices": [], "vectors": [], "last": list(net.body[-1].parameters())}
for parameter in net.body[:-1].parameters():
    kinds["matrices" if parameter.ndim > 1 else "vectors"].append(parameter)
optimizers = [
    torch.optim.AdamW(kinds["matrices"], lr=1e-3, weight_decay=0.1),
    torch.optim.SGD(kinds["vectors"], lr=1e-2),
    torch.optim.RMSprop(kinds["last"], lr=1e-4),
]
schedules = [torch.optim.lr_scheduler.CosineAnnealingLR(o, 60) for o in optimizers]
loader = DataLoader(Images(30 * 16), batch_size=16, drop_last=True)
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        with own.row("forward"):
            out = net(images)
        with own.row("loss"):
            loss = torch.nn.functional.cross_entropy(out, labels)
        for optimizer in optimizers:
            with own.row("zero_grad"):
                optimizer.zero_grad(set_to_none=True)
        with own.row("backward"):
            loss.backward()
        for optimizer, schedule in zip(optimizers, schedules):
            with own.row("optimizer"):
                optimizer.step()
            schedule.step()
        own.step()
own.show()
