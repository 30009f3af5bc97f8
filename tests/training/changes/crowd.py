# SPDX-License-Identifier: Apache-2.0
"""Programs for the advice on cores. All processes have one core. Where it is never idle, the time
of a step is their time on that core, and a turn of another program does not lengthen it. Beside a
process that is not to count, the clock is the wall's."""

import multiprocessing
import os
import subprocess
import sys
import time

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


class Timed(Rows):
    """A sample needs 10 ms of a core."""

    def __getitem__(self, index):
        until = time.process_time() + 0.010
        while time.process_time() < until:
            pass
        return torch.full((own.WIDTH,), float(index))


def loader(workers, rows=Costly):
    return [DataLoader(rows(2 * STEPS), batch_size=2, num_workers=workers)]


def evaluate(is_over):
    """A process of the job that computes as long as it trains, or only where nothing else does."""
    torch.set_num_threads(1)
    if IS_AFTER:
        os.nice(19)
    while not is_over.is_set():
        work()


def beside_evaluator():
    context = multiprocessing.get_context("fork")
    is_over = context.Event()
    evaluator = context.Process(target=evaluate, args=(is_over,))
    loop = Loop(work)
    evaluator.start()
    loop.fit([DataLoader(Rows(2 * STEPS), batch_size=2)])
    is_over.set()
    evaluator.join()


def beside_another(loop, passes):
    """A program that is none of the job has the core as well, or not."""
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    spinning = [sys.executable, "-c", "while True: pass"]
    other = None if IS_AFTER else subprocess.Popen(spinning, env=env)
    loop.fit(passes)
    other and other.kill()


if __name__ == "__main__":
    torch.set_num_threads(1)
    if CASE == "fewer_threads":
        loop = Loop(own.computing(60), now=own.work_ns)
        torch.set_num_threads(1 if IS_AFTER else 8)
        loop.fit([DataLoader(Rows(2 * STEPS), batch_size=2)])
    elif CASE == "fewer_bystanders":
        beside_evaluator()
    elif CASE == "own_cores":
        beside_another(Loop(own.sleeping(12)), loader(1, Timed))
    elif CASE == "quiet_machine":
        beside_another(Loop(work), [DataLoader(Rows(2 * STEPS), batch_size=2)])
    elif CASE == "fewer_workers":
        Loop(own.computing(20), now=own.work_ns).fit(loader(1 if IS_AFTER else 6))
    else:
        Loop(own.sleeping(2), now=own.work_ns).fit(loader(NUMBER if IS_AFTER else 1))
