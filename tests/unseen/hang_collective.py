# SPDX-License-Identifier: Apache-2.0
"""Rank 1 sleeps, and rank 0 waits for its gradients; ended by Ctrl-C."""

import sys, time, torch, torch.distributed as dist, watched as own
from sets import mlp
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank = dist.get_rank()
net = DDP(mlp(128, 256, 1))
opt = torch.optim.SGD(net.parameters(), 0.1)
try:
    for n in range(100):
        if n == 60:
            if rank == 0:
                own.count["steps"] *= 2
                own.show(epochs=None, why=["hung"])
            else:
                time.sleep(1000)
        opt.zero_grad()
        net(torch.randn(32, 128)).mean().backward()
        opt.step()
        own.step()
except KeyboardInterrupt:
    sys.exit(1)
