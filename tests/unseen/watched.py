# SPDX-License-Identifier: Apache-2.0
"""Timers of programs/timers.py around PyTorch's own calls, so that a program stays as its author
would write it. A program adds rows of its own where a call does not tell (validation, own_input).
"""

import functools
import sys
import time
import weakref

import timers as own
import torch
from torch.utils.data import dataloader

SEEN = ("loader_wait", "validation", "evaluation", "forward", "backward", "optimizer", "own_input")
last_forward = [None]  # end, and the ns of all rows at that time
weighted = weakref.WeakKeyDictionary()


def is_outside():
    return not own.inside(*SEEN)


def timed(name, function, before=None, after=None):
    @functools.wraps(function)
    def call(*arguments, **names):
        if own.threading.get_ident() != own.main or not is_outside():
            return function(*arguments, **names)
        if before:
            before()
        with own.row(name):
            result = function(*arguments, **names)
        if after:
            after()
        return result

    return call


def all_rows_ns():
    return sum(ns for _, ns in own.rows.values())


def note_forward():
    last_forward[0] = own.now(), all_rows_ns()


def note_loss():
    """The time between the model's call and its backward, without the rows there."""
    if last_forward[0]:
        end, rows_ns = last_forward[0]
        own.add(own.rows, "loss", max(own.now() - end - (all_rows_ns() - rows_ns), 0))
    last_forward[0] = None


def has_weights(module):
    if module not in weighted:
        weighted[module] = any(True for _ in module.parameters())
    return weighted[module]


def patch_calls(cls):
    function = cls.__call__
    forward = timed("forward", function, after=note_forward)

    # torch.profiler with stacks reads the local variable self, and dies where there is none.
    def call(self, *arguments, **names):
        is_forward = torch.is_grad_enabled() and has_weights(self)
        return (forward if is_forward else function)(self, *arguments, **names)

    cls.__call__ = call


def patch_optimizers(cls):
    init = cls.__init__

    @functools.wraps(init)
    def patched(self, *arguments, **names):
        init(self, *arguments, **names)
        owner = next(base for base in type(self).__mro__ if "step" in vars(base))
        if not hasattr(owner.step, "is_watched"):
            owner.step = timed("optimizer", owner.step)
            owner.step.is_watched = True

    cls.__init__ = patched
    cls.zero_grad = timed("zero_grad", cls.zero_grad)


def patch_batches(iterator, loader):
    begin, following = loader.__iter__, iterator.__next__

    def first(self):
        before = own.rows.get("loader_wait", [0, 0])[1]
        made = timed("loader_wait", begin)(self)
        made.is_unused, made.waited_before = is_outside(), before
        return made

    def batch(self):
        try:
            return timed("loader_wait", following)(self)
        finally:
            if getattr(self, "is_unused", False) and is_outside():
                own.firsts.append(own.rows.get("loader_wait", [0, 0])[1] - self.waited_before)
                self.is_unused = False

    loader.__iter__, iterator.__next__ = first, batch


patch_calls(torch.nn.Module)
patch_optimizers(torch.optim.Optimizer)
patch_batches(dataloader._BaseDataLoaderIter, dataloader.DataLoader)
torch.Tensor.backward = timed("backward", torch.Tensor.backward, before=note_loss)
torch.save = timed("checkpoint", torch.save)
row, step, show, add, count = own.row, own.step, own.show, own.add, own.count
