# SPDX-License-Identifier: Apache-2.0
"""Shards of mosaicml-streaming read through a DataLoader."""

import numpy as np
import timers as own
import vision  # noqa: F401
import torch
from small import mlp
from streaming import MDSWriter, StreamingDataset
from torch.utils.data import DataLoader

torch.set_num_threads(1)
with MDSWriter(out="shards", columns={"x": "ndarray:float32:128", "y": "int"}) as writer:
    for number in range(960):
        writer.write({"x": np.full(128, number, np.float32), "y": number % 4})
data = StreamingDataset(local="shards", batch_size=32, shuffle=True)
net = mlp(128, 4)
optimizer = torch.optim.Adam(net.parameters())
loader = DataLoader(data, batch_size=32)
for epoch in own.epochs(2):
    for batch in own.batches(loader):
        with own.row("forward"):
            out = net(batch["x"])
        with own.row("loss"):
            loss = torch.nn.functional.cross_entropy(out, batch["y"])
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
own.show()
