# SPDX-License-Identifier: Apache-2.0
"""A training loop of PyTorch on the CPU that allocates on the device of tests/cuda/fake, and keeps
account itself.

    memory_trainer.py STEPS

Every allocation and free is counted when its call has returned. Each step holds two buffers of its
own for a while and hands one on to the next; of three, the second launches 3 ms of work and then
allocates, pinned memory and again the device's, and the third launches as much and then frees. Half
way the device is reset. Prints as JSON the bytes in use at the end of each step and at most in it,
those of all, and calls that may wait, by the driver's name because ctypes finds the runtime by
dlsym: their number, their time, and how long the device says that they waited for work.
"""

import ctypes
import json
import sys
import time

import torch
from torch.utils.data import DataLoader

cuda = ctypes.CDLL("libcudart.so.13")
cuda.cudaFakeWaitedNs.restype = ctypes.c_uint64
steps = int(sys.argv[1])
EVENTS = {
    "cudaMalloc": "cuMemAlloc",
    "cudaFree": "cuMemFree",
    "cudaHostAlloc": "cuMemHostAlloc",
    "cudaFreeHost": "cuMemFreeHost",
}
KIB = 1024
held = {"device": {}, "pinned": {}}
most = {"device": 0, "pinned": 0}
calls = {}  # by event: [calls, ns, ns of waits in them]; of the loop only
step_peak = 0
in_loop = False


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


cuda.cudaLaunchKernel.argtypes = [ctypes.c_void_p, Dim3, Dim3] + [ctypes.c_void_p] * 3


def launch(ns):
    one, time_ns = Dim3(1, 1, 1), ctypes.c_uint64(ns)
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(time_ns))
    assert cuda.cudaLaunchKernel(None, one, one, arguments, None, None) == 0


def call(name, *arguments):
    waited, begin = cuda.cudaFakeWaitedNs(), time.monotonic_ns()
    assert getattr(cuda, name)(*arguments) == 0, name
    ns = time.monotonic_ns() - begin
    if in_loop and not name.endswith("Async"):
        row = calls.setdefault(EVENTS[name], [0, 0, 0])
        row[:] = (sum(pair) for pair in zip(row, (1, ns, cuda.cudaFakeWaitedNs() - waited)))


def count():
    global step_peak
    for kind, blocks in held.items():
        most[kind] = max(most[kind], sum(blocks.values()))
    step_peak = max(step_peak, sum(held["device"].values()))


def make(name, kind, size, *more):
    at = ctypes.c_void_p()
    call(name, ctypes.byref(at), ctypes.c_size_t(size), *more)
    held[kind][at.value] = size
    count()
    return at


def free(name, kind, at, *more):
    call(name, at, *more)
    del held[kind][at.value]


def use_memory(i, handed):
    own = make("cudaMalloc", "device", (i + 1) * 64 * KIB)
    pooled = make("cudaMallocAsync", "device", (i % 3 + 1) * 128 * KIB, None)
    if i % 3 == 1:
        launch(3_000_000)
    staging = make("cudaHostAlloc", "pinned", (i + 1) * KIB, 0)
    if handed:
        free("cudaFree", "device", handed)
    free("cudaFreeAsync", "device", pooled, None)
    if i % 3 == 1:
        launch(3_000_000)
    last = make("cudaMalloc", "device", 32 * KIB)
    free("cudaFreeHost", "pinned", staging)
    if i % 3 == 2:
        launch(3_000_000)
    free("cudaFree", "device", last)
    return own


base = make("cudaMalloc", "device", 1024 * KIB)
make("cudaMallocHost", "pinned", 2048 * KIB)
weight = torch.ones(1, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
ends, peaks, handed = [], [], None
for i, batch in enumerate(DataLoader(torch.ones(steps), batch_size=1)):
    in_loop, step_peak = True, sum(held["device"].values())
    handed = use_memory(i, handed)
    if i == steps // 2:
        assert cuda.cudaDeviceReset() == 0
        held, handed = {"device": {}, "pinned": {}}, None
    (weight * batch).sum().backward()
    optimizer.step()
    ends.append(sum(held["device"].values()))
    peaks.append(step_peak)
in_loop = False
if handed:
    free("cudaFree", "device", handed)
print(
    json.dumps(
        {
            "ends": ends,
            "peaks": peaks,
            "end": sum(held["device"].values()),
            "peak": most["device"],
            "pinned_peak": most["pinned"],
            "calls": calls,
        }
    )
)
