# SPDX-License-Identifier: Apache-2.0
"""Programs for the advice on cores. All processes have one core, and it is never idle: the time of
a step is their time on that core, and a turn of another program does not lengthen it."""

import own_loop as own
import torch
from own_loop import CASE, IS_AFTER, NUMBER, Loop, Rows
from torch.utils.data import DataLoader

STEPS = 40
work = own.computing(40)


class Costly(Rows):
    """A sample needs a core."""

    def __getitem__(self, index):
        for _ in range(2 if CASE == "cheaper_batches" and not IS_AFTER else 1):
            work()
        return torch.full((own.WIDTH,), float(index))


def loader(workers):
    return [DataLoader(Costly(2 * STEPS), batch_size=2, num_workers=workers)]


if __name__ == "__main__":
    torch.set_num_threads(1)
    if CASE == "fewer_threads":
        loop = Loop(own.computing(60), now=own.work_ns)
        torch.set_num_threads(1 if IS_AFTER else 8)
        loop.fit([DataLoader(Rows(2 * STEPS), batch_size=2)])
    elif CASE == "fewer_workers":
        Loop(own.computing(20), now=own.work_ns).fit(loader(1 if IS_AFTER else 6))
    else:
        Loop(own.sleeping(2), now=own.work_ns).fit(loader(NUMBER if IS_AFTER else 1))
