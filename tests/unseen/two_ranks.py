# SPDX-License-Identifier: Apache-2.0
"""Two ranks of gloo, gradients of a wide layer, so that the exchange takes time."""

import torch, torch.distributed as dist, watched as own
from sets import mlp
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
torch.manual_seed(0)
data = TensorDataset(torch.randn(640, 512), torch.randint(0, 10, (640,)))
sampler = DistributedSampler(data)
loader = DataLoader(data, 8, sampler=sampler)
net = DDP(mlp(512, 2048, 2048, 10))
opt = torch.optim.SGD(net.parameters(), 0.01)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
        own.step()
if dist.get_rank() == 0:
    own.count["steps"] *= 2
    own.show(
        epochs=None,
        loose=["backward", "grad_sync"],
        why=["communication-bound", "compute-bound", "cpu-oversubscribed"],
    )
dist.destroy_process_group()
