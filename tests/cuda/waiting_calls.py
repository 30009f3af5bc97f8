# SPDX-License-Identifier: Apache-2.0
"""Waits for the device of tests/cuda/fake in known functions, from known lines; prints how often,
and for how long."""

import ctypes
import json
import sys
import time

KERNEL_NS = 4_000_000
native = ctypes.CDLL(sys.argv[1])
native.launch.argtypes = [ctypes.c_uint64]
native.wait_twice.argtypes = [ctypes.c_uint64]
native.settle.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
host = ctypes.create_string_buffer(4096)
took_ns = {"SYNC": 0, "COPY": 0, "TWICE": 0}


def timed(mark, start):
    took_ns[mark] += time.perf_counter_ns() - start


def loss_item():
    native.launch(KERNEL_NS)
    start = time.perf_counter_ns()
    native.settle(None, 0)  # SYNC
    timed("SYNC", start)


def metrics_to_host():
    native.launch(KERNEL_NS)
    start = time.perf_counter_ns()
    native.settle(host, len(host))  # COPY
    timed("COPY", start)


def both():
    start = time.perf_counter_ns()
    native.wait_twice(KERNEL_NS)  # TWICE
    timed("TWICE", start)


def quick():
    for _ in range(20):
        native.launch(100)
    native.settle(None, 0)
    native.settle(None, 0)  # nothing is queued


native.settle(host, len(host))  # memory is made
rounds = int(sys.argv[2])
for _ in range(rounds):
    loss_item()
    metrics_to_host()
    both()
    quick()

with open(__file__) as file:
    marks = {mark: n for n, line in enumerate(file, 1) for mark in took_ns if "# " + mark in line}
with open(sys.argv[3], "w") as file:
    json.dump({"lines": marks, "took_ns": took_ns, "kernel_ns": KERNEL_NS}, file)
