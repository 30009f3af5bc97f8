# SPDX-License-Identifier: Apache-2.0
"""A thread makes batches in pure Python: the training thread waits for the interpreter's lock."""

import queue
import threading
import time

import timers as own
import torch
from small import ConvNet

torch.set_num_threads(1)  # the training thread has a core: what it does not run, it waits
batches = queue.Queue(4)


def produce(count):
    for number in range(count):
        rows = [[k * j % 255 / 255 for k in range(3 * 32 * 32)] for j in range(16)]
        batches.put((torch.tensor(rows).view(16, 3, 32, 32), torch.arange(16) % 10))
    batches.put(None)


net = ConvNet(width=8)
optimizer = torch.optim.Adam(net.parameters())
threading.Thread(target=produce, args=(100,), daemon=True).start()
begun, ran = time.perf_counter_ns(), time.thread_time_ns()
while True:
    with own.row("loader_wait"):
        batch = batches.get()
    if batch is None:
        break
    with own.row("zero_grad"):
        optimizer.zero_grad()
    with own.row("forward"):
        out = net(batch[0])
    with own.row("loss"):
        loss = torch.nn.functional.cross_entropy(out, batch[1])
    with own.row("backward"):
        loss.backward()
    with own.row("optimizer"):
        optimizer.step()
    own.step()
span = time.perf_counter_ns() - begun
waited = span - (time.thread_time_ns() - ran) - own.rows["loader_wait"][1]
own.show(
    epochs=None,
    loose=["loader_wait"],
    why=["lock-bound"] if waited > 0.1 * span else ["lock-bound", "compute-bound"],
)
