# SPDX-License-Identifier: Apache-2.0
"""Processes fill a queue with augmented patches, and a thread moves them to a bounded list."""

import multiprocessing
import queue
import threading
import time

import numpy as np
import timers as own
import torch
from small import ConvNet, timed_step

WORKERS, MANY, DEPTH = 2, 60, 4


def produce(number, results, end):
    generator = np.random.default_rng(number)
    while not end.is_set():
        time.sleep(0.06)
        images = generator.standard_normal((16, 3, 32, 32), dtype=np.float32)
        labels = generator.integers(0, 10, 16)
        try:
            results.put({"data": images, "target": labels}, timeout=1)
        except queue.Full:
            continue


def move(results, ready, end):
    while not end.is_set():
        try:
            item = results.get(timeout=0.2)
        except queue.Empty:
            continue
        item = {key: torch.from_numpy(value) for key, value in item.items()}
        while not end.is_set():
            try:
                ready.put(item, timeout=0.2)
                break
            except queue.Full:
                continue


class Augmenter:
    def __init__(self):
        context = multiprocessing.get_context("fork")
        self.results, self.end = context.Queue(DEPTH), context.Event()
        self.processes = [
            context.Process(target=produce, args=(n, self.results, self.end), daemon=True)
            for n in range(WORKERS)
        ]
        for process in self.processes:
            process.start()
        self.ready = queue.Queue(DEPTH)
        arguments = (self.results, self.ready, self.end)
        self.thread = threading.Thread(target=move, args=arguments, daemon=True)
        self.thread.start()

    def __next__(self):
        return self.ready.get()

    def finish(self):
        self.end.set()
        self.thread.join()
        for process in self.processes:
            process.terminate()


if __name__ == "__main__":
    net = ConvNet(width=16)
    optimizer = torch.optim.SGD(net.parameters(), 1e-2, momentum=0.99, nesterov=True)
    augmenter = Augmenter()
    for _ in range(MANY):
        with own.row("loader_wait"):
            batch = next(augmenter)
        timed_step(net, optimizer, batch["data"], batch["target"].long())
    augmenter.finish()
    own.show(epochs=None)
