# SPDX-License-Identifier: Apache-2.0
"""Hand-written timers, as people put them into their trainers; shared with forked workers."""

import contextlib
import json
import multiprocessing
import time

CALLS = 1000  # most of one name


class Timers:
    def __init__(self, names):
        self.lock = multiprocessing.Lock()
        self.calls = {name: multiprocessing.RawArray("q", 1 + 2 * CALLS) for name in names}

    @contextlib.contextmanager
    def __call__(self, name):
        calls = self.calls[name]
        begin = time.perf_counter_ns()
        yield
        ns = time.perf_counter_ns() - begin
        with self.lock:
            count = calls[0]
            calls[1 + 2 * count : 3 + 2 * count] = begin, ns
            calls[0] = count + 1

    def batches(self, loader, name):
        iterator = iter(loader)
        while True:
            with self(name):
                batch = next(iterator, None)
            if batch is None:
                return
            yield batch

    def write(self, path):
        """name to [begin, nanoseconds] of each call, in the order in which they ended."""
        calls = {
            name: [calls[i : i + 2] for i in range(1, 1 + 2 * calls[0], 2)]
            for name, calls in self.calls.items()
        }
        with open(path, "w") as file:
            json.dump(calls, file)
