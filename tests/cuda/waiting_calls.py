# SPDX-License-Identifier: Apache-2.0
"""Waits for the device of tests/cuda/fake in known functions, from known lines.

    waiting_calls.py LIBRARY ROUNDS FILE

FILE gets, as JSON, the lines, and of each call the time by our own clock around it and the waits in
it by the device's. A thread that loses its core after a launch waits less, so rounds go on until
each wait has been long ROUNDS times."""

import ctypes
import json
import sys
import time

KERNEL_NS, LONG_NS = 4_000_000, 1_000_000
native = ctypes.CDLL(sys.argv[1])
native.launch.argtypes = [ctypes.c_uint64]
native.wait_twice.argtypes = [ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint64)]
native.settle.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
cuda = ctypes.CDLL("libcudart.so.13")
cuda.cudaFakeWaitedNs.restype = ctypes.c_uint64
host = ctypes.create_string_buffer(4096)
calls = {"SYNC": [], "COPY": [], "TWICE": []}  # mark: [ns, [ns of each wait]]


def told(mark, start, *waited):
    """waited: the thread's time in waits at the begin of each wait."""
    ns, ends = time.perf_counter_ns() - start, [*waited[1:], cuda.cudaFakeWaitedNs()]
    calls[mark].append((ns, [end - begin for begin, end in zip(waited, ends)]))


def loss_item():
    native.launch(KERNEL_NS)
    waited, start = cuda.cudaFakeWaitedNs(), time.perf_counter_ns()
    native.settle(None, 0)  # SYNC
    told("SYNC", start, waited)


def metrics_to_host():
    native.launch(KERNEL_NS)
    waited, start = cuda.cudaFakeWaitedNs(), time.perf_counter_ns()
    native.settle(host, len(host))  # COPY
    told("COPY", start, waited)


def both():
    first = ctypes.c_uint64()
    waited, start = cuda.cudaFakeWaitedNs(), time.perf_counter_ns()
    native.wait_twice(KERNEL_NS, first)  # TWICE
    told("TWICE", start, waited, first.value)


def long_rounds():
    """The count of the wait that was long the fewest times."""
    waits = (wait for rows in calls.values() for wait in zip(*(waits for _, waits in rows)))
    return min((sum(ns >= LONG_NS for ns in wait) for wait in waits), default=0)


def quick():
    for _ in range(20):
        native.launch(100)
    native.settle(None, 0)
    native.settle(None, 0)  # nothing is queued


native.settle(host, len(host))  # memory is made
rounds = int(sys.argv[2])
for _ in range(20 * rounds):
    loss_item()
    metrics_to_host()
    both()
    quick()
    if long_rounds() >= rounds:
        break

with open(__file__) as file:
    marks = {mark: n for n, line in enumerate(file, 1) for mark in calls if "# " + mark in line}
with open(sys.argv[3], "w") as file:
    json.dump({"lines": marks, "calls": calls}, file)
