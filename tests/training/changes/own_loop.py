# SPDX-License-Identifier: Apache-2.0
"""The loop of the programs here, with its own clock.

    PROGRAM.py CASE before|after [NUMBER]

NUMBER is what the advice names, such as a number of workers. The clock starts after everything is
made, and fit() prints the time of a step: of all of it, and of the steps after the first FIRST.
"""

import json
import resource
import sys
import time

import torch
from torch.utils.data import Dataset

CASE, IS_AFTER = sys.argv[1], sys.argv[2] == "after"
NUMBER = int(sys.argv[3]) if len(sys.argv) > 3 else 0
FIRST = 5
WIDTH = 8


def work_ns():
    """Time on cores, of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return int(1e9 * sum(usage.ru_utime + usage.ru_stime for usage in used))


class Rows(Dataset):
    """Samples that sleep."""

    def __init__(self, many, ms=0.0, width=WIDTH):
        self.many, self.seconds, self.width = many, ms / 1000, width

    def __len__(self):
        return self.many

    def __getitem__(self, index):
        if self.seconds:
            time.sleep(self.seconds)
        return torch.full((self.width,), float(index))


class Backward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows, work):
        ctx.work = work
        return rows.view_as(rows)

    @staticmethod
    def backward(ctx, gradient):
        ctx.work()
        return gradient, None


def sleeping(ms):
    return lambda: time.sleep(ms / 1000)


def computing(rounds):
    """A number of products, and not a time: other programs do not change it."""
    factor = torch.rand(192, 192)

    def work():
        for _ in range(rounds):
            factor @ factor

    return work


class Net(torch.nn.Module):
    """Forward and backward do `work` each, or backward does another; the layer is small."""

    def __init__(self, work, back=None):
        super().__init__()
        self.layer, self.work, self.back = torch.nn.Linear(WIDTH, 2), work, back or work

    def forward(self, rows):
        self.work()
        return Backward.apply(self.layer(rows), self.back)


class Loop:
    def __init__(self, work=None, now=time.perf_counter_ns, net=None):
        torch.manual_seed(0)
        torch.set_num_threads(1)
        self.net = Net(work or sleeping(10)) if net is None else net
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.01)
        self.now, self.number, self.began, self.steady = now, 0, 0, 0

    def step(self, rows):
        loss = self.net(rows.flatten(1)).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def done(self):
        self.number += 1
        if self.number == FIRST:
            self.steady = self.now()

    def begin(self):
        self.began = self.now()

    def show(self, samples=1):
        """The time of a step, or of so many samples where a change makes steps larger."""
        end = self.now()
        self.told = {
            "all_ns": (end - self.began) / self.number / samples,
            "steady_ns": (end - self.steady) / (self.number - FIRST) / samples,
        }
        print(json.dumps(self.told), flush=True)

    def fit(self, passes, after_step=None, samples=1):
        self.begin()
        for batches in passes:
            for rows in batches:
                self.step(rows)
                if after_step:
                    after_step(self.number)
                self.done()
        self.show(samples)
