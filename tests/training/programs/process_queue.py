# SPDX-License-Identifier: Apache-2.0
"""Batches that processes of the program's own put into a queue; no DataLoader."""

import time

import numpy as np
import timers as own
import torch
import torch.multiprocessing as multiprocessing
from small import ConvNet, timed_step


def produce(queue, seed, count):
    generator = np.random.default_rng(seed)
    for _ in range(count):
        time.sleep(0.06)
        images = generator.standard_normal((16, 3, 32, 32), dtype=np.float32)
        queue.put((images, generator.integers(0, 10, 16)))
    queue.put(None)


if __name__ == "__main__":
    queue = multiprocessing.Queue(4)
    producers = [
        multiprocessing.Process(target=produce, args=(queue, seed, 30)) for seed in range(2)
    ]
    for producer in producers:
        producer.start()
    net = ConvNet()
    optimizer = torch.optim.Adam(net.parameters())
    alive = len(producers)
    while alive:
        with own.row("loader_wait"):
            batch = queue.get()
        if batch is None:
            alive -= 1
            continue
        images, labels = map(torch.from_numpy, batch)
        timed_step(net, optimizer, images, labels)
    for producer in producers:
        producer.join()
    own.show(epochs=None)
