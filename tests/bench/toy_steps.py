# SPDX-License-Identifier: Apache-2.0
"""A toy step of PyTorch, with and without all that marks it, in one process: what its markers cost.

    LD_PRELOAD=libstageprof.so python3 toy_steps.py PAIRS

Blocks of steps with markers take turns with blocks without, in which PyTorch's callbacks are
disabled and the wrapped calls are those of before; which comes first changes with every pair.
Prints what alternate.h says.
"""

import ctypes
import gc
import os
import sys

import torch
from torch import nn

import turns

# The first that a process adds are ours: labels, and nodes, which by themselves end before the
# first block.
CALLBACKS = (1, 2) if os.environ.get("STAGEPROF_OPS") == "nodes" else (1,)
WARM_STEPS, BLOCK_STEPS = 200, 10


def library():
    folder = os.path.join(os.path.dirname(torch.__file__), "lib")
    return ctypes.CDLL(os.path.join(folder, "libtorch_cpu.so"))


def wrapped_calls(optimizer):
    """(owner, name, wrapped, its own) of each call of the step that is wrapped."""
    methods = [(cls, name) for cls in type(optimizer).__mro__ for name in ("step", "zero_grad")]
    found = [
        (owner, name, vars(owner).get(name))
        for owner, name in [(torch.autograd, "backward"), *methods]
    ]
    return [
        (owner, name, value, next(filter(callable, gc.get_referents(value))))
        for owner, name, value in found
        if type(value).__module__ == "stageprof"
    ]


class Marks:
    def __init__(self, optimizer):
        torch_cpu = library()
        self.disable, self.enable = (
            getattr(torch_cpu, name)
            for name in ("_ZN2at15disableCallbackEm", "_ZN2at16reenableCallbackEm")
        )
        self.calls = wrapped_calls(optimizer)

    def set(self, on):
        for handle in CALLBACKS:
            (self.enable if on else self.disable)(ctypes.c_uint64(handle))
        for owner, name, wrapped, own in self.calls:
            setattr(owner, name, wrapped if on else own)


def make():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(
        nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)
    )
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    rows, labels = torch.randn(16, 32), torch.randint(0, 8, (16,))

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(rows), labels).backward()
        optimizer.step()

    return optimizer, step


def main(pairs):
    optimizer, step = make()
    for _ in range(WARM_STEPS):
        step()
    marks = Marks(optimizer)
    assert len(marks.calls) == 3, "backward, step and zero_grad are wrapped"
    turns.take(step, marks.set, pairs, BLOCK_STEPS)


if __name__ == "__main__":
    main(int(sys.argv[1]))
