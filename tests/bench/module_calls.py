# SPDX-License-Identifier: Apache-2.0
"""Forward calls of modules that do nothing, timed and not, in one process: what STAGEPROF_MODULES
costs a call.

    STAGEPROF_MODULES=2 LD_PRELOAD=libstageprof.so python3 module_calls.py PAIRS

Blocks of calls with PyTorch's global hooks take turns with blocks without; which comes first
changes with every pair. Prints what alternate.h says.
"""

import sys

import torch
from torch import nn
from torch.nn.modules import module as hooks

import turns

MODULES, BLOCK_FORWARDS = 50, 20


class Timing:
    """The hooks that time every module's forward, and none."""

    def __init__(self):
        self.lists = (hooks._global_forward_pre_hooks, hooks._global_forward_hooks)
        self.ours = [dict(hooked) for hooked in self.lists]
        assert all(self.ours), "the library times modules: STAGEPROF_MODULES"

    def set(self, on):
        for hooked, ours in zip(self.lists, self.ours):
            hooked.clear()
            hooked.update(ours if on else {})


def main(pairs):
    torch.set_num_threads(1)
    model, rows = nn.Sequential(*(nn.Identity() for _ in range(MODULES))), torch.zeros(4, 8)
    model(rows)
    calls = BLOCK_FORWARDS * (MODULES + 1)
    turns.take(lambda: model(rows), Timing().set, pairs, BLOCK_FORWARDS, calls)


if __name__ == "__main__":
    main(int(sys.argv[1]))
