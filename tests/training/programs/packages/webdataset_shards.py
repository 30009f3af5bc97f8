# SPDX-License-Identifier: Apache-2.0
"""Shards of WebDataset through its own loader."""

import io
import tarfile

import numpy as np
import timers as own
import torch
import webdataset
from small import mlp

torch.set_num_threads(1)


def put(tar, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))


for shard in range(4):
    with tarfile.open(f"shard-{shard}.tar", "w") as tar:
        for number in range(160):
            row = io.BytesIO()
            np.save(row, np.full(256, number, np.float32))
            put(tar, f"{number:05}.npy", row.getvalue())
            put(tar, f"{number:05}.cls", str(number % 4).encode())
data = webdataset.WebDataset("shard-{0..3}.tar", shardshuffle=False).decode()
data = data.to_tuple("npy", "cls").batched(32)
loader = webdataset.WebLoader(data, batch_size=None, num_workers=1)
net = mlp(256, 4)
optimizer = torch.optim.Adam(net.parameters())
for epoch in own.epochs(3):
    for rows, labels in own.batches(loader):
        rows, labels = torch.as_tensor(rows), torch.as_tensor(labels)
        with own.row("forward"):
            out = net(rows)
        with own.row("loss"):
            loss = torch.nn.functional.cross_entropy(out, labels)
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
own.show()
