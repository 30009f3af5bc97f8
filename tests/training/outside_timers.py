# SPDX-License-Identifier: Apache-2.0
"""Runs a script as it is, with timers on PyTorch's calls that know nothing of stageprof.

    outside_timers.py EVENTS SCRIPT [ARGUMENT...]

When the process ends, EVENTS has JSON: a list of [kind, begin, end, own, core_wait, detail] of the
main thread, in the order of their ends. Times are of time.perf_counter_ns(); `own` leaves out the
events inside, and so does `core_wait`, the time that the thread waited for a core.
Kind and detail: "pass", an iterator of a DataLoader is made: its number; "batch", a call of it:
[that number, whether a batch came]; "call", an outermost call of a module with weights: whether
gradients are on; "backward", "optimizer", "save" and "load": null.
"""

import atexit
import functools
import json
import os
import runpy
import sys
import threading
import time
import weakref

import torch
from torch.utils.data import dataloader

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs"))
from core_wait import core_wait_ns

del sys.path[0]
events, stack = [], []  # stack: [kind, ns of the events inside, their waits]
home = (os.getpid(), threading.get_ident())
passes = 0
weighted = weakref.WeakKeyDictionary()  # of modules: whether they have weights


def is_inside(kind):
    return any(open_kind == kind for open_kind, *_ in stack)


def timed(kind, function, detail_of=lambda arguments, result: None):
    """An exception counts as no result."""

    @functools.wraps(function)
    def call(*arguments, **names):
        if (os.getpid(), threading.get_ident()) != home or is_inside(kind):
            return function(*arguments, **names)
        stack.append([kind, 0, 0])
        result, wait, begin = None, core_wait_ns(), time.perf_counter_ns()
        try:
            result = function(*arguments, **names)
            return result
        finally:
            whole = time.perf_counter_ns() - begin, core_wait_ns() - wait
            own = [ns - inside for ns, inside in zip(whole, stack.pop()[1:])]
            if stack:
                stack[-1][1:] = [ns + inside for ns, inside in zip(whole, stack[-1][1:])]
            detail = detail_of(arguments, result)
            events.append([kind, begin, begin + whole[0], *own, detail])

    return call


def number_pass(_, iterator):
    global passes
    passes += 1
    if iterator is not None:
        iterator.outside_pass = passes
    return passes


def batch_of(arguments, batch):
    return [getattr(arguments[0], "outside_pass", 0), batch is not None]


def has_weights(module):
    if module not in weighted:
        weighted[module] = any(True for part in module.modules() for _ in part._parameters)
    return weighted[module]


def patch_calls(cls):
    own = cls.__call__
    of_weights = timed("call", own, lambda arguments, result: torch.is_grad_enabled())

    def call(module, *arguments, **names):
        within = any(kind in ("batch", "optimizer", "backward") for kind, *_ in stack)
        chosen = of_weights if not within and has_weights(module) else own
        return chosen(module, *arguments, **names)

    cls.__call__ = call


def patch_optimizers(cls):
    own = cls.__init__

    @functools.wraps(own)
    def init(self, *arguments, **names):
        own(self, *arguments, **names)
        owner = next(base for base in type(self).__mro__ if "step" in vars(base))
        if not hasattr(owner.step, "outside"):
            owner.step = timed("optimizer", owner.step)
            owner.step.outside = True

    cls.__init__ = init


def patch_all():
    loader, iterator = dataloader.DataLoader, dataloader._BaseDataLoaderIter
    loader.__iter__ = timed("pass", loader.__iter__, number_pass)
    iterator.__next__ = timed("batch", iterator.__next__, batch_of)
    patch_calls(torch.nn.Module)
    patch_optimizers(torch.optim.Optimizer)
    torch.Tensor.backward = timed("backward", torch.Tensor.backward)
    torch.autograd.backward = timed("backward", torch.autograd.backward)
    torch.save, torch.load = timed("save", torch.save), timed("load", torch.load)


def write(path):
    if os.getpid() == home[0]:
        with open(path, "w") as file:
            json.dump(events, file)


if __name__ == "__main__":
    path, script = os.path.abspath(sys.argv[1]), sys.argv[2]
    sys.argv = sys.argv[2:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    atexit.register(write, path)
    patch_all()
    runpy.run_path(script, run_name="__main__")
