# SPDX-License-Identifier: Apache-2.0
"""The example's own count of steps, and its own timers around each call for a batch to train on and
around the making of iterators."""

import json
import time

import numpy as np

DONE = object()


class Own:
    def __init__(self):
        self.steps, self.waited_ns, self.made_ns = 0, None, 0

    def batches(self, loader):
        """Iterates as `for batch in loader` does."""
        self.waited_ns = self.waited_ns or 0
        begin = time.perf_counter_ns()
        iterator = iter(loader)
        self.made_ns += time.perf_counter_ns() - begin
        while True:
            begin = time.perf_counter_ns()
            batch = next(iterator, DONE)
            self.waited_ns += time.perf_counter_ns() - begin
            if batch is DONE:
                return
            yield batch

    def step(self, *_args, **_names):
        self.steps += 1

    def tell(self):
        print("own", json.dumps(vars(self)))


def digits(count, side=28, seed=0):
    """Made pictures, whose brightness says which digit they are."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 10, count)
    noise = rng.standard_normal((count, side, side, 1))
    return (noise + labels[:, None, None, None]).astype("float32"), labels.astype("int32")


def table(count, columns=20, seed=0):
    """Made rows of numbers, two classes."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((count, columns))
    return x, (x[:, 0] + x[:, 1] * x[:, 2] + rng.standard_normal(count) > 0).astype(int)
