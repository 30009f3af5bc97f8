# SPDX-License-Identifier: Apache-2.0
"""Waits for the device of tests/cuda/fake from known lines, and prints these.

    waiting_lines.py ROUNDS

waits.json gets of each wait the time by our own clock around the call, and by the device's own in
it. A thread that loses its core after a launch waits less, so each wait is made again until it has
been long as often as it is to be."""

import ctypes
import json
import sys
import threading
import time

cuda = ctypes.CDLL("libcuda.so.1")
cuda.cuInit(0)
stream = ctypes.c_void_p()
cuda.cuStreamCreate(ctypes.byref(stream), 0)
cuda.cuFakeWaitedNs.restype = ctypes.c_uint64
SLOW_NS = 1_000_000
waits = {"LONG": [], "ASIDE": [], "TOP": []}


def launch(ns):
    length = ctypes.c_uint64(ns)
    arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(length), ctypes.c_void_p))
    cuda.cuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, stream, arguments, None)
    return length, arguments


def short():
    cuda.cuStreamSynchronize(stream)  # nothing is queued


def begin():
    return launch(4_000_000), cuda.cuFakeWaitedNs(), time.perf_counter_ns()


def told(mark, kept, waited, start):
    """Returns true for a long wait."""
    ns = time.perf_counter_ns() - start
    waits[mark].append((ns, cuda.cuFakeWaitedNs() - waited))
    del kept
    return waits[mark][-1][1] >= SLOW_NS


def long():
    begun = begin()
    cuda.cuStreamSynchronize(stream)  # LONG
    return told("LONG", *begun)


def aside():
    for _ in range(20):
        begun = begin()
        cuda.cuStreamSynchronize(stream)  # on another thread: no line
        if told("ASIDE", *begun):
            break


rounds = int(sys.argv[1])
found = 0
for _ in range(20 * rounds):
    short()
    found += long()
    if found == rounds:
        break
other = threading.Thread(target=aside)
other.start()
other.join()
for _ in range(20):
    begun = begin()
    result = float(cuda.cuCtxSynchronize()) + rounds  # TOP
    if told("TOP", *begun):
        break

with open(__file__) as file:
    marks = {
        mark: n for n, line in enumerate(file, 1) for mark in ("LONG", "TOP") if "# " + mark in line
    }
print(json.dumps({"LONG": marks["LONG"], "TOP": marks["TOP"]}))
with open("waits.json", "w") as file:
    json.dump(waits, file)
