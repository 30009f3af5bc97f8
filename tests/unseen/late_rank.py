# SPDX-License-Identifier: Apache-2.0
"""The data of one rank take longer to make: the other one waits for it in the exchange."""

import time, torch, torch.distributed as dist, watched as own
from sets import mlp
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset

dist.init_process_group("gloo")
rank = dist.get_rank()


class Late(Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, i):
        if rank == 1:
            time.sleep(0.004)
        return torch.randn(64), i % 4


net = DDP(mlp(64, 128, 4))
opt = torch.optim.SGD(net.parameters(), 0.01)
for epoch in range(2):
    for x, y in DataLoader(Late(), 16):
        opt.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
        own.step()
if rank == 0:
    own.count["steps"] *= 2
    own.show(
        epochs=None, loose=["loader_wait", "backward"], why=["input-bound", "communication-bound"]
    )
dist.destroy_process_group()
