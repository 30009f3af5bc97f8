# SPDX-License-Identifier: Apache-2.0
"""ranks.py KIND: torchrun starts this twice. KIND: ddp or fsdp."""

import sys

import ending  # noqa: F401
import torch
import torch.distributed as dist
from torch import nn

STEPS = 10
kind = sys.argv[1]
torch.cuda.set_device(0)
dist.init_process_group("nccl")
# Kernels change nothing here, and copies copy.
total = torch.tensor([dist.get_rank() + 1.0] * 4).to("cuda")
dist.all_reduce(total)
assert total.cpu().tolist() == [3.0] * 4, total.cpu()

layers = [nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)]
model = nn.Sequential(*layers).cuda()
if kind == "ddp":
    model = nn.parallel.DistributedDataParallel(model, device_ids=[0])
else:
    from torch.distributed.fsdp import fully_shard

    fully_shard(model)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(STEPS):
    optimizer.zero_grad()
    loss = model(torch.randn(32, 64, device="cuda")).sum()
    loss.backward()
    optimizer.step()
torch.cuda.synchronize()
dist.destroy_process_group()
