# SPDX-License-Identifier: Apache-2.0
"""Each step is a row of a database, committed at once."""

import sqlite3

import timers as own
import torch
from small import ConvNet, Images, timed_step
from torch.utils.data import DataLoader

net = ConvNet(width=16)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
loader = DataLoader(Images(30 * 16), batch_size=16)
log = sqlite3.connect("log.db")
log.execute("create table steps (number integer, name text, value real)")
names = [name for name, _ in net.named_parameters()]
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        timed_step(net, optimizer, images, labels)
        with own.row("own_log"):
            norms = [p.grad.norm().item() for p in net.parameters()]
            log.executemany(
                "insert into steps values (?, ?, ?)",
                [(own.count["steps"], name, norm) for name, norm in zip(names, norms)],
            )
            log.commit()
own.show(why=["loop-bound", "compute-bound", "checkpoint-bound", "cannot-tell"])
