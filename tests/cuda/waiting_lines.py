# SPDX-License-Identifier: Apache-2.0
"""Waits for the device of tests/cuda/fake from known lines, and prints these. waits.json gets
the time of each wait in long(), in ns: a thread that loses its core after a launch waits less."""

import ctypes
import json
import sys
import threading
import time

cuda = ctypes.CDLL("libcuda.so.1")
cuda.cuInit(0)
stream = ctypes.c_void_p()
cuda.cuStreamCreate(ctypes.byref(stream), 0)


def launch(ns):
    length = ctypes.c_uint64(ns)
    arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(length), ctypes.c_void_p))
    cuda.cuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, stream, arguments, None)
    return length, arguments


def short():
    cuda.cuStreamSynchronize(stream)  # nothing is queued


def long():
    kept = launch(4_000_000)
    begin = time.perf_counter_ns()
    cuda.cuStreamSynchronize(stream)  # LONG
    del kept
    return time.perf_counter_ns() - begin


def aside():
    kept = launch(4_000_000)
    cuda.cuStreamSynchronize(stream)  # on another thread: no line
    del kept


rounds = int(sys.argv[1])
waits = []
for _ in range(rounds):
    short()
    waits.append(long())
other = threading.Thread(target=aside)
other.start()
other.join()
kept = launch(4_000_000)
result = float(cuda.cuCtxSynchronize()) + rounds  # TOP

with open(__file__) as file:
    marks = {
        mark: n for n, line in enumerate(file, 1) for mark in ("LONG", "TOP") if "# " + mark in line
    }
print(json.dumps({"LONG": marks["LONG"], "TOP": marks["TOP"]}))
with open("waits.json", "w") as file:
    json.dump(waits, file)
