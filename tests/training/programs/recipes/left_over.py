# SPDX-License-Identifier: Apache-2.0
"""Two batches make a step, and an epoch has an odd number: the last one's gradients are dropped.

Each epoch is tested twice, the second time against attacks, which take gradients themselves.
"""

import time

import timers as own
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
torch.set_num_threads(1)


class Samples(Dataset):
    def __init__(self, count, seconds):
        self.count, self.seconds = count, seconds

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.full((64,), index / self.count), index % 10


net = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.SGD(net.parameters(), 0.01)
learned, held = DataLoader(Samples(330, 0), 10), DataLoader(Samples(200, 0.001), 10)


def test(attacks):
    for x, y in held:
        if attacks:
            x.requires_grad_()
            nn.functional.cross_entropy(net(x), y).backward()
            x = x.detach() + 0.1 * x.grad.sign()
        with torch.no_grad():
            net(x).argmax(1).eq(y).sum().item()


for epoch in own.epochs(3):
    for number, (x, y) in enumerate(own.batches(learned)):
        with own.row("forward"):
            out = net(x)
        with own.row("loss"):
            loss = nn.functional.cross_entropy(out, y) / 2
        with own.row("backward"):
            loss.backward()
        if number % 2:
            with own.row("optimizer"):
                optimizer.step()
            with own.row("zero_grad"):
                optimizer.zero_grad()
            own.step()
    with own.row("validation"):
        test(attacks=False)
        test(attacks=True)
    with own.row("zero_grad"):
        optimizer.zero_grad()
own.show()
