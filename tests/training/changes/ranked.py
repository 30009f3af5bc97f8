# SPDX-License-Identifier: Apache-2.0
"""Programs for the advice on ranks: two of them by torchrun, on gloo. One has the clock."""

import contextlib
import os
import sys
import time

import own_loop as own
import torch
import torch.distributed
from own_loop import CASE, IS_AFTER, Loop, Rows
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

STEPS = 30
rank = int(os.environ["RANK"])


class Wide(torch.nn.Module):
    """Large gradients."""

    def __init__(self):
        super().__init__()
        self.large = torch.nn.Linear(own.WIDTH, 1 << 20)

    def forward(self, rows):
        return self.large(rows).mean(1)


class Late(own.Net):
    def forward(self, rows):
        if rank == 1 and not IS_AFTER:
            time.sleep(0.030)
        return super().forward(rows)


def validate(number):
    """One rank alone in every tenth step, or both, each on its half."""
    if number % 10 == 0 and (IS_AFTER or not rank):
        time.sleep(0.15 if IS_AFTER else 0.3)


class Ranked(Loop):
    def __init__(self, net):
        super().__init__(net=DistributedDataParallel(net))

    def step(self, rows):
        if CASE in NETS:
            return super().step(rows)
        is_kept = IS_AFTER and self.number % 4 != 3
        with self.net.no_sync() if is_kept else contextlib.nullcontext():
            self.net(rows).sum().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


NETS = {
    "late_rank": lambda: Late(own.sleeping(10)),
    "rare_collectives": lambda: own.Net(own.sleeping(10)),
}

if __name__ == "__main__":
    torch.distributed.init_process_group("gloo")
    loop = Ranked(NETS.get(CASE, Wide)())
    if rank:
        sys.stdout = open(os.devnull, "w")
    loop.fit(
        [DataLoader(Rows(2 * STEPS), batch_size=2)],
        validate if CASE == "rare_collectives" else None,
    )
    del loop  # before its group
    torch.distributed.destroy_process_group()
