# SPDX-License-Identifier: Apache-2.0
"""Two ranks average all weights by hand at each step, one tensor at a time."""

import torch, torch.distributed as dist, watched as own
from sets import mlp

dist.init_process_group("gloo")
torch.set_num_threads(1)
net = mlp(128, *[128] * 24, 1)
opt = torch.optim.SGD(net.parameters(), 0.01)
for step in range(150):
    opt.zero_grad()
    net(torch.randn(16, 128)).mean().backward()
    opt.step()
    with own.row("grad_sync"):
        for p in net.parameters():
            dist.all_reduce(p.data)
            p.data /= 2
    own.step()
if dist.get_rank() == 0:
    own.show(epochs=None, why=["communication-bound", "straggler-bound"])
dist.barrier()
