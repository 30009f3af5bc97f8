# SPDX-License-Identifier: Apache-2.0
"""torch.compile with inductor: the first steps compile."""

import timers as own
import torch
from small import mlp
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
data = TensorDataset(torch.randn(60 * 64, 64), torch.randint(0, 5, (60 * 64,)))
net = torch.compile(mlp(64, 5))
optimizer = torch.optim.Adam(net.parameters())
for epoch in own.epochs(2):
    for number, (rows, labels) in enumerate(own.batches(DataLoader(data, batch_size=64))):
        first = not own.count["steps"]
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("compile" if first else "forward"):
            out = net(rows)
        with own.row("loss"):
            loss = torch.nn.functional.cross_entropy(out, labels)
        with own.row("compile" if first else "backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
own.show(loose=["forward", "backward", "loss", "compile"])
