# SPDX-License-Identifier: Apache-2.0
"""The fake device for trainers: a model whose kernels run there, and its copies and waits
(device.c)."""

import ctypes
import os

import torch

library = ctypes.CDLL(os.environ["PLANTED_DEVICE"])
for name in ("device_memory", "pinned_memory"):
    getattr(library, name).restype = ctypes.c_void_p
    getattr(library, name).argtypes = [ctypes.c_size_t]
library.free_memory.argtypes = [ctypes.c_void_p]
library.launch.argtypes = [ctypes.c_uint64, ctypes.c_int]
for name in ("copy_in", "copy_in_and_wait", "copy_in_whole", "copy_beside"):
    getattr(library, name).argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
library.item.argtypes = [ctypes.c_void_p]
library.item.restype = ctypes.c_double
launch, item = library.launch, library.item
device_memory, free_memory = library.device_memory, library.free_memory
pinned_memory, await_copy = library.pinned_memory, library.await_copy
copy_in, copy_in_and_wait = library.copy_in, library.copy_in_and_wait
copy_in_whole, copy_beside = library.copy_in_whole, library.copy_beside
scalar = library.device_memory(8)


class Kernels(torch.autograd.Function):
    """Passes a tensor on; the device is busy for `count` kernels of `ns`, and as often on the way
    back."""

    @staticmethod
    def forward(ctx, rows, ns, count):
        ctx.work = ns, count
        launch(ns, count)
        return rows.view_as(rows)

    @staticmethod
    def backward(ctx, gradient):
        launch(*ctx.work)
        return gradient, None, None


class Net(torch.nn.Module):
    """A layer on the processor, so that there is a loss, and kernels that take the time."""

    def __init__(self, ms, kernels=20):
        super().__init__()
        self.head = torch.nn.Linear(64, 2)
        self.work = int(ms * 1e6 / kernels / 2), kernels

    def forward(self, rows):
        return Kernels.apply(self.head(rows), *self.work)
