# SPDX-License-Identifier: Apache-2.0
"""torch.profiler with stacks was left on for all steps."""

import torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader

net = mlp(*[64] * 8, 10)
opt = torch.optim.SGD(net.parameters(), 0.1)
with torch.profiler.profile(record_shapes=True, with_stack=True) as profiler:
    for x in DataLoader(torch.randn(1280, 64), 32):
        opt.zero_grad()
        net(x).pow(2).mean().backward()
        opt.step()
        own.step()
        with own.row("bookkeeping"):
            profiler.step()
own.show(epochs=1, loose=["bookkeeping"], why=["loop-bound", "compute-bound"])
