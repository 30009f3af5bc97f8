# SPDX-License-Identifier: Apache-2.0
"""A training loop of PyTorch on the CPU that gives the device of tests/cuda/fake known work.

    timed_trainer.py STEPS WAIT_MS FORWARD_MS BACKWARD_MS OPTIMIZER_MS [sync] [capture] [aside]
    [devices] [modules]
        [per-thread] [failing] [reset] [release] [destroy] [fork] [unload] [item]

sync: waits for the device in every step. capture: captures a graph in the middle of the forward.
aside: backward's work is launched by a thread of its own. devices: every second kernel of the
forward goes to a second device. modules: the forward is a tree of modules with work of their own.
per-thread: all on the default streams of threads. failing: each part also makes a launch that is
refused. reset, release, destroy: in some step, with work under way, the device is reset, its
primary context released by all, or a context of our own that had work destroyed. fork: half way a
child goes on with a stage of its own. unload: for two steps there is no CUDA; its libraries, with
work under way, are unloaded and come back. item: reads the loss into memory that is not pinned in
every step, and no sync follows. Prints as JSON what the device did, from the times at which it was
given work: a kernel begins when it is launched or when the one before it on the device ends.
"""

import _ctypes
import ctypes
import json
import os
import sys
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

cuda = ctypes.CDLL("libcudart.so.13")
driver = ctypes.CDLL("libcuda.so.1")
has_cuda, violations = True, 0
steps, wait_ms, forward_ms, backward_ms, optimizer_ms = (int(a) for a in sys.argv[1:6])
modes = set(sys.argv[6:])
DEVICES = 2 if "devices" in modes else 1
streams = []
for device in range(DEVICES):
    cuda.cudaSetDevice(device)
    streams.append(ctypes.c_void_p())
    cuda.cudaStreamCreate(ctypes.byref(streams[-1]))
cuda.cudaSetDevice(0)
work = []  # (part, device, launched, ns)
waits = []  # (begin, end)
item_ns = []  # of each read of the loss: by our own clock around the call, by the device's in it
errors = 0


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


ONE, NONE = Dim3(1, 1, 1), Dim3(0, 1, 1)


def bind():
    global launch_kernel
    launch_kernel = cuda.cudaLaunchKernel_ptsz if "per-thread" in modes else cuda.cudaLaunchKernel
    launch_kernel.argtypes = cuda.cudaLaunchKernel.argtypes = [ctypes.c_void_p, Dim3, Dim3] + [
        ctypes.c_void_p
    ] * 3
    driver.cuFakeWaitedNs.restype = driver.cuFakePutNs.restype = ctypes.c_uint64
    driver.cuLaunchKernel.argtypes = [ctypes.c_void_p] + [ctypes.c_uint] * 7 + [ctypes.c_void_p] * 3


bind()


def is_mapped():
    with open("/proc/self/maps") as maps:
        return any("libcuda" in line for line in maps)


def unload():
    global errors, has_cuda, violations
    violations += driver.cuFakeViolations()
    for library in (driver, cuda):
        _ctypes.dlclose(library._handle)
    has_cuda = False
    errors += is_mapped()


def reload():
    global cuda, driver, has_cuda
    cuda, driver = ctypes.CDLL("libcudart.so.13"), ctypes.CDLL("libcuda.so.1")
    has_cuda = True
    bind()
    cuda.cudaStreamCreate(ctypes.byref(streams[0]))


def launch(part, ms, device=0):
    global errors
    if not has_cuda:
        return
    ns = ctypes.c_uint64(ms * 1_000_000)
    arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(ns), ctypes.c_void_p))
    stream = None if "per-thread" in modes else streams[device]
    if "failing" in modes:
        errors += launch_kernel(None, NONE, ONE, arguments, None, stream) != 9
        errors += driver.cuLaunchKernel(None, 0, 1, 1, 1, 1, 1, 0, stream, arguments, None) != 1
    errors += launch_kernel(None, ONE, ONE, arguments, None, stream) != 0
    work.append((part, device, driver.cuFakePutNs(), ns.value))


def capture():
    global errors
    own, graph = ctypes.c_void_p(), ctypes.c_void_p()
    cuda.cudaStreamCreate(ctypes.byref(own))
    errors += cuda.cudaStreamBeginCapture(own, 0) != 0
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(ctypes.c_uint64(0)))
    for _ in range(3):
        errors += cuda.cudaLaunchKernel(None, ONE, ONE, arguments, None, own) != 0
        # A boundary meanwhile: nothing may touch the device.
        torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1).zero_grad()
    errors += cuda.cudaStreamEndCapture(own, ctypes.byref(graph)) != 0
    errors += driver.cuFakeGraphNodes(graph) != 3
    cuda.cudaStreamDestroy(own)


def reset():
    global errors
    errors += cuda.cudaDeviceReset() != 0
    cuda.cudaStreamCreate(ctypes.byref(streams[0]))


def release():
    """As often as the runtime and we ourselves have retained it."""
    global errors
    flags, active, kept = ctypes.c_uint(), ctypes.c_int(1), ctypes.c_void_p()
    while active.value:
        errors += driver.cuDevicePrimaryCtxRelease_v2(0) != 0
        errors += (
            driver.cuDevicePrimaryCtxGetState(0, ctypes.byref(flags), ctypes.byref(active)) != 0
        )
    errors += driver.cuDevicePrimaryCtxRetain(ctypes.byref(kept), 0) != 0
    cuda.cudaStreamCreate(ctypes.byref(streams[0]))


def destroy():
    """A stage's work in a context of its own, which ends before anybody has waited for it."""
    global errors
    context, stream, time_ns = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64(2_000_000)
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(time_ns))
    errors += driver.cuCtxCreate_v2(ctypes.byref(context), 0, 0) != 0
    errors += driver.cuStreamCreate(ctypes.byref(stream), 0) != 0
    errors += driver.cuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, stream, arguments, None) != 0
    torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1).zero_grad()
    errors += driver.cuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, stream, arguments, None) != 0
    errors += driver.cuCtxDestroy_v2(context) != 0


def fork():
    """A stage in the child must touch none of its parent's events."""
    global errors
    child = os.fork()
    if child == 0:
        torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1).zero_grad()
        os._exit(0)
    errors += os.waitpid(child, 0)[1] != 0


class Samples(Dataset):
    def __len__(self):
        return steps

    def __getitem__(self, i):
        time.sleep(wait_ms / 1e3)
        return torch.zeros(1)


class Device(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        launch("forward", forward_ms)
        if "devices" in modes:
            cuda.cudaSetDevice(1)
            launch("forward", forward_ms, 1)
            cuda.cudaSetDevice(0)
        if "capture" in modes:
            capture()
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        if "aside" in modes:
            thread = threading.Thread(target=launch, args=("backward", backward_ms))
            thread.start()
            thread.join()
        else:
            launch("backward", backward_ms)
        return grad


class Layer(torch.nn.Module):
    """Work of its own, then that of the layers in it."""

    def __init__(self, ms, **inner):
        super().__init__()
        self.ms = ms
        for name, layer in inner.items():
            self.add_module(name, layer)

    def forward(self, x):
        if self.ms:
            launch("forward", self.ms)
        for layer in self.children():
            x = layer(x)
        return x


model = Layer(2, stem=Layer(3), body=Layer(0, left=Layer(4), right=Layer(1)))


class Optimizer(torch.optim.SGD):
    def step(self, closure=None):
        launch("optimizer", optimizer_ms)
        return super().step(closure)


def timed(loader):
    iterator = iter(loader)
    while True:
        begin = time.monotonic_ns()
        try:
            batch = next(iterator)
        except StopIteration:
            return
        waits.append((begin, time.monotonic_ns()))
        yield batch


loss_there, loss_here = ctypes.c_void_p(), ctypes.create_string_buffer(4)
if "item" in modes:
    errors += cuda.cudaMalloc(ctypes.byref(loss_there), ctypes.c_size_t(4)) != 0
weight = torch.ones(1, requires_grad=True)
optimizer = Optimizer([weight], lr=0.1)
for batch in timed(DataLoader(Samples(), batch_size=1)):
    optimizer.zero_grad()
    if "modules" in modes:
        batch = model(batch)
    loss = Device.apply(weight * batch).sum()
    loss.backward()
    optimizer.step()
    for mode, change, step in (
        ("reset", reset, 2),
        ("release", release, 4),
        ("destroy", destroy, 6),
    ):
        if mode in modes and len(waits) == step:
            change()
    if "unload" in modes and len(waits) == 3:
        unload()
    if "unload" in modes and len(waits) == 5:
        reload()
    if "sync" in modes and has_cuda:
        (
            cuda.cudaStreamSynchronize_ptsz(None)
            if "per-thread" in modes
            else cuda.cudaStreamSynchronize(streams[0])
        )
    if "item" in modes:
        waited, began = driver.cuFakeWaitedNs(), time.monotonic_ns()
        errors += (
            cuda.cudaMemcpyAsync(loss_here, loss_there, ctypes.c_size_t(4), 2, streams[0]) != 0
        )
        call_ns = time.monotonic_ns() - began
        item_ns.append((call_ns, driver.cuFakeWaitedNs() - waited))
    if "fork" in modes and len(waits) == steps // 2:
        fork()
cuda.cudaDeviceSynchronize()

busy, ends, parts = [], [0] * DEVICES, {}
for part, device, launched, ns in work:
    begin = max(launched, ends[device])
    ends[device] = begin + ns
    busy.append((begin, ends[device]))
    parts[part] = parts.get(part, 0) + ns


def common(span, others):
    """The time of a span in which any of the others is under way."""
    at, sum_ns = span[0], 0
    for begin, end in sorted(others):
        begin, end = max(begin, at), min(end, span[1])
        if end > begin:
            sum_ns += end - begin
            at = end
    return sum_ns


inside = waits[1:]  # the first comes before there is anything to do
hidden = sum(common(wait, busy) for wait in inside)
print(
    json.dumps(
        {
            "item_ns": item_ns,
            "gpu_ns": parts,
            "wait_ns": sum(end - begin for begin, end in inside),
            "hidden_ns": hidden,
            "errors": errors,
            "violations": violations + driver.cuFakeViolations(),
        }
    )
)
