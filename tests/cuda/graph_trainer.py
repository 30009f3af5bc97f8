# SPDX-License-Identifier: Apache-2.0
"""A training of PyTorch on the CPU whose step is captured whole as a graph on the device of
tests/fake_cuda.

    graph_trainer.py EAGER REPLAYS KERNEL_MS WAIT_MS [eager] [static]

EAGER steps warm up; one more is captured, with its backward and optimizer; then each batch is a
replay. eager: nothing is captured but the forward, and each step goes on to a backward and an
optimizer of its own. static: one batch is the input of all warm-ups and of the capture, and each
batch of a new pass is a replay. Prints the ns of kernels in graphs.
"""

import ctypes
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

cuda = ctypes.CDLL("libcudart.so.13")
eager, replays, kernel_ms, wait_ms = (int(a) for a in sys.argv[1:5])
is_eager, is_static = "eager" in sys.argv[5:], "static" in sys.argv[5:]
stream, graph, step = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


ONE = Dim3(1, 1, 1)
cuda.cudaLaunchKernel.argtypes = [ctypes.c_void_p, Dim3, Dim3] + [ctypes.c_void_p] * 3
cuda.cudaStreamCreate(ctypes.byref(stream))


def launch():
    time_ns = ctypes.c_uint64(kernel_ms * 1_000_000)
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(time_ns))
    assert cuda.cudaLaunchKernel(None, ONE, ONE, arguments, None, stream) == 0


class Samples(Dataset):
    def __len__(self):
        return replays if is_static else eager + replays

    def __getitem__(self, i):
        time.sleep(wait_ms / 1e3)
        return torch.zeros(1)


weight = torch.ones(1, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)


def train(batch):
    optimizer.zero_grad()
    launch()
    (weight * batch).sum().backward()
    launch()
    optimizer.step()


def forward_only(batch):
    launch()


def capture(what, batch):
    assert cuda.cudaStreamBeginCapture(stream, 2) == 0
    what(batch)
    assert cuda.cudaStreamEndCapture(stream, ctypes.byref(graph)) == 0
    assert cuda.cudaGraphInstantiate(ctypes.byref(step), graph, ctypes.c_ulonglong(0)) == 0


loader = DataLoader(Samples(), batch_size=1)
if is_static:
    static = next(iter(loader))
    for _ in range(eager):
        train(static)
    capture(train, static)
for number, batch in enumerate(loader, eager if is_static else 0):
    if number == eager and not is_static:
        capture(forward_only if is_eager else train, batch)
    if number < eager:
        train(batch)
    else:
        assert cuda.cudaGraphLaunch(step, stream) == 0
    if number >= eager and is_eager:
        optimizer.zero_grad()
        (weight * batch).sum().backward()
        optimizer.step()
    cuda.cudaStreamSynchronize(stream)
print(replays * (1 if is_eager else 2) * kernel_ms * 1_000_000)
