# SPDX-License-Identifier: Apache-2.0
"""Trains on two cores, with one cost that is known.

    known_costs_program.py compile MS
    known_costs_program.py inductor
    known_costs_program.py log
    known_costs_program.py batches WORKERS BATCH_MS MODEL_MS

compile: a compiler takes MS once. inductor: PyTorch's own compiler; writes the ns of each backward
to backwards.txt. log: each step writes 3,000 lines, each flushed. batches: a batch takes BATCH_MS
of a core, and the model MODEL_MS.
"""

import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

BATCHES, BATCH = 40, 4


def burn(ms):
    end = time.thread_time_ns() + ms * 1e6
    while time.thread_time_ns() < end:
        pass


class Rows(Dataset):
    def __init__(self, batch_ms):
        self.ms = batch_ms / BATCH

    def __len__(self):
        return BATCHES * BATCH

    def __getitem__(self, index):
        burn(self.ms)
        return torch.full((8,), float(index))


class Model(torch.nn.Module):
    def __init__(self, ms):
        super().__init__()
        self.layer, self.ms = torch.nn.Linear(8, 2), ms

    def forward(self, rows):
        burn(self.ms)
        return self.layer(rows)


def train(model, workers=0, batch_ms=0.0, log=None):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        for rows in DataLoader(Rows(batch_ms), batch_size=BATCH, num_workers=workers):
            optimizer.zero_grad()
            loss = model(rows).sum()
            loss.backward()
            optimizer.step()
            for number in range(3000 if log else 0):
                print("line", number, file=log, flush=True)


def compile_once(ms):
    def compiler(graph, _):
        time.sleep(float(ms) / 1000)
        return graph.forward

    train(torch.compile(torch.nn.Linear(8, 2), backend=compiler))


def compile_with_inductor():
    model = torch.compile(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU()))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with open("backwards.txt", "w") as file:
        for _ in range(20):
            loss = model(torch.randn(4, 8)).sum()
            begin = time.perf_counter_ns()
            loss.backward()
            print(time.perf_counter_ns() - begin, file=file)
            optimizer.step()
            optimizer.zero_grad()


def write_log():
    with open("log.txt", "w") as log:
        train(Model(20), log=log)


def make_batches(workers, batch_ms, model_ms):
    train(Model(float(model_ms)), int(workers), float(batch_ms))


torch.set_num_threads(1)
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
ways = {
    "compile": compile_once,
    "inductor": compile_with_inductor,
    "log": write_log,
    "batches": make_batches,
}
ways[sys.argv[1]](*sys.argv[2:])
