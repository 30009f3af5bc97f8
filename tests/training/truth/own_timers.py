# SPDX-License-Identifier: Apache-2.0
"""The trainers' own timers, and parts of known length: a loaded machine only lengthens sleeps."""

import contextlib
import json
import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs"))
from core_wait import core_wait_ns

started_s = time.time()
totals = {}  # name -> calls, ns, ns that the main thread waited for a core meanwhile


def born_s():
    """When the kernel made this process, as the clock of the day has it."""
    with open("/proc/self/stat") as file:
        ticks = int(file.read().rpartition(")")[2].split()[19])
    with open("/proc/uptime") as file:
        up_s = float(file.read().split()[0])
    return time.time() - up_s + ticks / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def timer(name):
    wait_ns, begin = core_wait_ns(), time.perf_counter_ns()
    yield
    took_ns, waited_ns = time.perf_counter_ns() - begin, core_wait_ns() - wait_ns
    calls, total_ns, all_waits_ns = totals.get(name, (0, 0, 0))
    totals[name] = calls + 1, total_ns + took_ns, all_waits_ns + waited_ns


class Slow(torch.autograd.Function):
    """Passes a tensor on, and sleeps on the way back."""

    @staticmethod
    def forward(ctx, rows, seconds):
        ctx.seconds = seconds
        return rows.view_as(rows)

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(ctx.seconds)
        return gradient, None


class Net(torch.nn.Module):
    def __init__(self, forward_ms=10, backward_ms=10):
        super().__init__()
        self.layer = torch.nn.Linear(8, 2)
        self.seconds = forward_ms / 1000, backward_ms / 1000

    def forward(self, rows):
        time.sleep(self.seconds[0])
        return Slow.apply(self.layer(rows), self.seconds[1])


class Rows(Dataset):
    def __init__(self, count, ms=0):
        self.count, self.seconds = count, ms / 1000

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.full((8,), float(index)), index % 2


def loader(batches, ms=0, workers=0):
    """Batches of 4, each of which takes that long to make."""
    return DataLoader(Rows(4 * batches, ms / 4), batch_size=4, num_workers=workers)


def batches(source):
    with timer("wait"):
        iterator = iter(source)
    while True:
        with timer("wait"):
            batch = next(iterator, None)
        if batch is None:
            return
        yield batch


def step(net, optimizer, rows, labels, loss_ms=0):
    with timer("forward"):
        out = net(rows)
    with timer("loss"):
        time.sleep(loss_ms / 1000)
        loss = torch.nn.functional.cross_entropy(out, labels)
    with timer("backward"):
        loss.backward()
    with timer("optimizer"):
        optimizer.step()
    optimizer.zero_grad()
    return loss


def adam(net):
    return torch.optim.Adam(net.parameters())


class SlowState:
    """A state that takes a while to save."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __reduce__(self):
        time.sleep(self.seconds)
        return SlowState, (0,)


def save(seconds, name="checkpoint", path="model.pt"):
    with timer(name):
        torch.save({"state": SlowState(seconds)}, path)


def show(**more):
    print(json.dumps({"timers": totals, **more}))


torch.set_num_threads(1)
torch.manual_seed(0)
