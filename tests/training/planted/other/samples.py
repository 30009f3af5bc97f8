# SPDX-License-Identifier: Apache-2.0
"""Samples with one planted fault, for the loader of any framework, and two ways to call a trainer.

    python3 TRAINER.py make FOLDER FAULT     what it trains on
    python3 TRAINER.py train FOLDER FAULT    prints its steps, waits and begins of loaders (ns)
"""

import os
import sys
import time

import numpy as np

COUNT, FLOATS, BATCH = 96, 256, 4
STORED = 65536  # floats of a file
WORKER_STARTS = 14  # times COUNT, so that a run is longer than the start of its workers


def path(folder, index):
    return os.path.join(folder, f"{index}.npy")


def make(folder, fault):
    if fault == "slow_storage":
        for index in range(COUNT):
            np.save(path(folder, index), np.full(STORED, index, "f4"))


def smooth(row):
    for _ in range(480):
        row = [(a + b) / 2 for a, b in zip(row, row[1:] + row[:1])]
    return np.array(row, "f4")


class Samples:
    is_cold = True

    def __init__(self, folder, fault):
        self.folder, self.fault = folder, fault

    def __len__(self):
        return count(self.fault)

    def __getitem__(self, index):
        index = int(index)
        if self.fault == "slow_storage":
            return np.load(path(self.folder, index % COUNT))[:FLOATS]
        if self.fault == "slow_transform":
            return smooth([float(index)] * FLOATS)
        if self.fault == "one_worker":
            time.sleep(0.02)  # a service that answers
        if self.fault == "cold_first_batch" and self.is_cold:
            time.sleep(1.5)
        self.is_cold = False
        return np.full(FLOATS, index % COUNT / COUNT, "f4")


def count(fault):
    return COUNT * (WORKER_STARTS if workers(fault) else 1)


def workers(fault):
    """The loader's processes; a cold start is repeated in each epoch."""
    return {"one_worker": 1, "slow_transform": 2, "slow_storage": 2}.get(fault, 0)


def epochs(fault):
    return 3 if fault == "cold_first_batch" else 1


class Loop:
    """Steps, and the time that the loop waited for batches and for the begins of their loaders."""

    def __init__(self):
        self.steps, self.waited_ns, self.begun_ns = 0, 0, 0

    def batches(self, loader):
        begin = time.perf_counter_ns()
        iterator = iter(loader)
        self.begun_ns += time.perf_counter_ns() - begin
        while True:
            begin = time.perf_counter_ns()
            batch = next(iterator, None)
            self.waited_ns += time.perf_counter_ns() - begin
            if batch is None:
                return
            self.steps += 1
            yield batch


def main(train):
    ways = {"make": make, "train": lambda *given: print(*train(*given))}
    ways[sys.argv[1]](*sys.argv[2:])
