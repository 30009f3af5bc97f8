# SPDX-License-Identifier: Apache-2.0
"""The example's own count of steps, and its own timers: around each call for a batch to train on,
around the making of iterators, from the first such call (or the end of the first step) to the end
of the last step, of the first step, in which most programs are compiled, and of the loop's own
code: what lies between leave() and enter(), less those calls for a batch."""

import json
import time

import numpy as np

DONE = object()


class Own:
    def __init__(self):
        self.steps, self.waited_ns, self.made_ns = 0, None, 0
        self.began_ns, self.first_ns, self.trained_ns = None, 0, 0
        self.left_ns, self.loop_ns = None, 0

    def batches(self, loader):
        """Iterates as `for batch in loader` does."""
        self.waited_ns = self.waited_ns or 0
        self.begin()
        begin = time.perf_counter_ns()
        iterator = iter(loader)
        self.made_ns += time.perf_counter_ns() - begin
        while True:
            begin = time.perf_counter_ns()
            batch = next(iterator, DONE)
            waited_ns = time.perf_counter_ns() - begin
            self.waited_ns += waited_ns
            if self.left_ns:
                self.left_ns += waited_ns
            if batch is DONE:
                return
            yield batch

    def begin(self):
        self.began_ns = self.began_ns or time.perf_counter_ns()

    def leave(self, *_args):
        self.left_ns = time.perf_counter_ns()

    def enter(self, *_args):
        if self.left_ns:
            self.loop_ns += time.perf_counter_ns() - self.left_ns
        self.left_ns = None

    def step(self, *_args, **_names):
        self.begin()
        self.steps += 1
        self.trained_ns = time.perf_counter_ns() - self.began_ns
        self.first_ns = self.first_ns or self.trained_ns

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
