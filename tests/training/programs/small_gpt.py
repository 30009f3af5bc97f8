# SPDX-License-Identifier: Apache-2.0
"""A small language model without a DataLoader: batches from a mapped file, estimates by hand."""

import numpy as np
import timers as own
import torch
from small import Language

np.random.default_rng(0).integers(0, 256, 200000, dtype=np.uint16).tofile("train.bin")
length, rows = 64, 8
net = Language()
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-4)


def get_batch():
    with own.row("own_input"):
        return cut()


def cut():
    data = np.memmap("train.bin", dtype=np.uint16, mode="r")
    at = torch.randint(len(data) - length - 1, (rows,))
    x = torch.stack([torch.from_numpy(data[i : i + length].astype(np.int64)) for i in at])
    y = torch.stack([torch.from_numpy(data[i + 1 : i + 1 + length].astype(np.int64)) for i in at])
    return x, y


@torch.no_grad()
def estimate_loss():
    net.eval()
    losses = torch.zeros(12)
    for k in range(len(losses)):
        _, loss = net(*get_batch())
        losses[k] = loss.item()
    net.train()
    return losses.mean()


x, y = get_batch()
for iteration in range(60):
    if iteration % 20 == 0:
        with own.row("evaluation"):
            estimate_loss()
        if iteration:
            with own.row("checkpoint"):
                torch.save({"model": net.state_dict(), "opt": optimizer.state_dict()}, "ckpt.pt")
    for _ in range(2):
        with own.row("forward"):
            _, loss = net(x, y)
        loss = loss / 2
        x, y = get_batch()
        with own.row("backward"):
            loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    with own.row("optimizer"):
        optimizer.step()
    with own.row("zero_grad"):
        optimizer.zero_grad(set_to_none=True)
    own.step()
own.show(epochs=None, loose=["loader_wait"])
