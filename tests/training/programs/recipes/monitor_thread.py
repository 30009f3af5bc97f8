# SPDX-License-Identifier: Apache-2.0
"""A thread computes in Python all the time, beside a loop over a recurrent cell.

Each operator gives the interpreter's lock away, and gets it back 5 ms later.
"""

import threading

import timers as own
import torch
from small import timed_step
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(32, 64)
        self.out = nn.Linear(64, 10)

    def forward(self, words):
        state = torch.zeros(words.shape[0], 64)
        for at in range(words.shape[1]):
            state = self.cell(words[:, at], state)
        return self.out(state)


def monitor():
    while not done.is_set():
        sum(number * number for number in range(20000))


net = Recurrent()
optimizer = torch.optim.Adam(net.parameters())
data = TensorDataset(torch.randn(1280, 40, 32), torch.randint(0, 10, (1280,)))
done = threading.Event()
threading.Thread(target=monitor, daemon=True).start()
for epoch in own.epochs(2):
    for words, labels in own.batches(DataLoader(data, batch_size=32, shuffle=True)):
        timed_step(net, optimizer, words, labels)
done.set()
own.show(why=["lock-bound"])
