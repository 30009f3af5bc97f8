# SPDX-License-Identifier: Apache-2.0
"""A data set of the package datasets, mapped and in torch's format, read by a DataLoader."""

import datasets
import numpy as np
import timers as own
import torch
from small import mlp
from torch.utils.data import DataLoader

torch.set_num_threads(1)
datasets.disable_progress_bars()
generator = np.random.default_rng(0)
rows = {"x": generator.standard_normal((1920, 64)).tolist(), "y": [i % 5 for i in range(1920)]}
data = datasets.Dataset.from_dict(rows).map(lambda row: {"x": [2 * v for v in row["x"]]})
data = data.with_format("torch")
net = mlp(64, 5)
optimizer = torch.optim.AdamW(net.parameters())
loader = DataLoader(data, batch_size=32, shuffle=True)
for epoch in own.epochs(2):
    for batch in own.batches(loader):
        with own.row("forward"):
            out = net(batch["x"])
        with own.row("loss"):
            loss = torch.nn.functional.cross_entropy(out, batch["y"])
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        with own.row("zero_grad"):
            optimizer.zero_grad()
        own.step()
own.show()
