# SPDX-License-Identifier: Apache-2.0
"""A small model of tokens: the loop gathers the next batch from a memory map before backward."""

import os
import tempfile

import numpy as np
import timers as own
import torch

LENGTH = 64
torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Embedding(256, 32), torch.nn.Linear(32, 256))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)


def loss_of(outputs, labels):
    return torch.nn.functional.cross_entropy(outputs.flatten(0, 1), labels.flatten())


def gather(path):
    data = np.memmap(path, dtype=np.uint16, mode="r")
    starts = torch.randint(len(data) - LENGTH - 1, (64,)).tolist()
    pieces = [torch.from_numpy(data[i : i + LENGTH + 1].astype(np.int64)) for i in starts]
    tokens = torch.stack(pieces)
    return tokens[:, :-1], tokens[:, 1:]


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "train.bin")
    np.random.default_rng(0).integers(0, 256, 4 << 20).astype(np.uint16).tofile(path)
    tokens, labels = gather(path)
    for _ in range(100):
        with own.row("forward"):
            outputs = net(tokens)
        with own.row("loss"):
            loss = loss_of(outputs, labels)
        with own.row("own_input"):
            tokens, labels = gather(path)
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
        optimizer.zero_grad(set_to_none=True)
own.show(epochs=None)
