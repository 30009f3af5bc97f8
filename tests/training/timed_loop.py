# SPDX-License-Identifier: Apache-2.0
"""A training loop with hand-written timers: epochs, validation, accumulation, checkpoints.

    python3 timed_loop.py WORKERS ACCUMULATE    prints what its timers say as JSON: calls, their
        time and the wait for a core in it, in ns
"""

import contextlib
import json
import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs"))

from core_wait import core_wait_ns

EPOCHS, TRAINING, VALIDATION, BATCH = 2, 80, 24, 8
FETCH_S, FORWARD_S = 0.0005, 0.01

totals = {}


def now():
    """The wait for a core is read outside of what is timed."""
    return core_wait_ns(), time.perf_counter_ns()


def add(name, begin):
    end, (wait, at) = time.perf_counter_ns(), begin
    call = 1, end - at, core_wait_ns() - wait
    totals.setdefault("first_" + name, call)
    totals["last_" + name] = call
    totals[name] = [sum(pair) for pair in zip(call, totals.get(name, (0, 0, 0)))]


@contextlib.contextmanager
def timer(name):
    begin = now()
    yield
    add(name, begin)


class Rows(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(FETCH_S)
        return torch.full((64,), float(index)), index % 2


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(64, 512), torch.nn.ReLU(), torch.nn.Linear(512, 2)
        )

    def forward(self, rows):
        time.sleep(FORWARD_S)
        return self.net(rows)


def batches(loader):
    with timer("loader_begin"):
        iterator = iter(loader)
    while True:
        begin = now()
        batch = next(iterator, None)
        add("loader_end" if batch is None else "loader_wait", begin)
        if batch is None:
            return
        yield batch


def train(model, loader, optimizer, accumulate):
    for number, (rows, labels) in enumerate(batches(loader), 1):
        with timer("forward"):
            loss = torch.nn.functional.cross_entropy(model(rows), labels)
        with timer("backward"):
            loss.backward()
        if number % accumulate == 0:
            with timer("optimizer"):
                optimizer.step()
            with timer("zero_grad"):
                optimizer.zero_grad()


def validate(model, loader):
    with timer("validation"), torch.no_grad():
        for rows, _ in loader:
            model(rows)


def main(workers, accumulate):
    torch.set_num_threads(1)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters())
    training, validation = [
        DataLoader(Rows(count), batch_size=BATCH, num_workers=workers)
        for count in (TRAINING, VALIDATION)
    ]
    for _ in range(EPOCHS):
        train(model, training, optimizer, accumulate)
        validate(model, validation)
        with timer("checkpoint"):
            torch.save(model.state_dict(), "model.pt")
    print(json.dumps(totals))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
