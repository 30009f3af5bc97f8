# SPDX-License-Identifier: Apache-2.0
"""Batches of a multiprocessing.Pool by imap; no DataLoader."""

import multiprocessing
import time

import numpy as np
import timers as own
import torch
from small import ConvNet


def make(index):
    time.sleep(0.1)
    generator = np.random.default_rng(index)
    return generator.standard_normal((16, 3, 32, 32), dtype=np.float32), generator.integers(
        0, 10, 16
    )


if __name__ == "__main__":
    net = ConvNet()
    optimizer = torch.optim.Adam(net.parameters())
    with multiprocessing.Pool(2) as pool:
        for epoch in range(2):
            for images, labels in own.batches(pool.imap(make, range(25))):
                with own.row("zero_grad"):
                    optimizer.zero_grad()
                with own.row("forward"):
                    out = net(torch.from_numpy(images))
                with own.row("loss"):
                    loss = torch.nn.functional.cross_entropy(out, torch.from_numpy(labels))
                with own.row("backward"):
                    loss.backward()
                with own.row("optimizer"):
                    optimizer.step()
                own.step()
    # A thread of the pool unpickles the batches, and turns of the interpreter's lock are in no
    # call: where few batches are late they are half of the wait.
    own.show(epochs=None, loose=["loader_wait"])
