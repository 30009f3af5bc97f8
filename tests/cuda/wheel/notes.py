# SPDX-License-Identifier: Apache-2.0
"""A training's own account on the bed. begin() starts it; when the process ends,
$SIM_TRUTH.PID.notes has a line for each call of a phase, "phase NAME BEGIN_NS END_NS" by
CLOCK_MONOTONIC, and one for each step of an optimizer, "memory RESERVED RESERVED_MAX" in bytes by
PyTorch's own account: at the step's end, and at most since the one before. Without $SIM_TRUTH
nothing is noted."""

import atexit
import os
import time

import ending  # noqa: F401
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

phases, memory, begins = [], [], []


def note(owner, name, phase):
    """Notes when the function begins and ends."""
    function = getattr(owner, name)

    def noted(*arguments, **options):
        begin = time.monotonic_ns()
        try:
            return function(*arguments, **options)
        finally:
            phases.append((phase, begin, time.monotonic_ns()))

    setattr(owner, name, noted)


def end_step(*_):
    phases.append(("optimizer", begins.pop(), time.monotonic_ns()))
    memory.append((torch.cuda.memory_reserved(), torch.cuda.max_memory_reserved()))
    torch.cuda.reset_peak_memory_stats()


def write(path):
    with open(path, "w") as file:
        file.writelines("phase %s %d %d\n" % row for row in phases)
        file.writelines("memory %d %d\n" % row for row in memory)


def note_compiling():
    """torch.compile tries kernels while it compiles. The recording of a graph is no compiling."""
    from torch._dynamo import callback

    compiles = callback.CallbackTrigger.DYNAMO, callback.CallbackTrigger.LAZY_BACKWARD

    def start(about):
        if about.callback_trigger in compiles:
            begins.append(time.monotonic_ns())

    def end(about):
        if about.callback_trigger in compiles:
            phases.append(("compile", begins.pop(), time.monotonic_ns()))

    callback.on_compile_start(start)
    callback.on_compile_end(end)


def begin():
    if "SIM_TRUTH" not in os.environ:
        return
    note(torch.Tensor, "backward", "backward")
    note(torch.autograd, "grad", "backward")
    note(torch.utils.data.dataloader._BaseDataLoaderIter, "__next__", "loader")
    note(torch.optim.Optimizer, "zero_grad", "zero_grad")
    note(torch, "save", "checkpoint")
    note(torch.amp.GradScaler, "step", "optimizer")  # it may leave the optimizer out
    register_optimizer_step_pre_hook(lambda *_: begins.append(time.monotonic_ns()))
    register_optimizer_step_post_hook(end_step)
    atexit.register(write, "%s.%d.notes" % (os.environ["SIM_TRUTH"], os.getpid()))
