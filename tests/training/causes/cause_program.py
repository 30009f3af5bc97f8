# SPDX-License-Identifier: Apache-2.0
"""cause_program.py PLACE BATCHES FILE CAUSE...: trains with causes of planted_cause.py.

PLACE is worker (one worker; workers: two), trainer (the training thread makes the batches) or loop
(in the training loop, outside of the loader). A batch has one cause; several take turns. Prints the
sums of each cause's truths as JSON; before it the sums of the process until each backward, with the
time since the first one.
"""

import json
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

from planted_cause import CAUSES, FIELDS

PLACE, BATCHES, FILE, NAMES = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
SAMPLES = 4

causes = {name: CAUSES[name]() for name in NAMES}
begun = set()
here = {name: [0] * len(FIELDS) for name in NAMES}  # of this process
marks = []


def once(batch, i):
    name = NAMES[batch % len(NAMES)]
    if name not in begun:
        begun.add(name)
        causes[name].begin(FILE)
    truth = list(causes[name].once(i).values())
    here[name] = [sum(each) for each in zip(here[name], truth)]
    return truth


def mark():
    sums = {name: dict(zip(FIELDS, here[name])) for name in NAMES}
    marks.append([time.perf_counter_ns(), sums])


class Causes(Dataset):
    def __len__(self):
        return BATCHES * SAMPLES

    def __getitem__(self, i):
        return torch.tensor(once(i // SAMPLES, i), dtype=torch.float64)


class Nothing(Causes):
    def __getitem__(self, i):
        return torch.zeros(len(FIELDS), dtype=torch.float64)


def train():
    torch.set_num_threads(1)
    net = torch.nn.Linear(len(FIELDS), 1, dtype=torch.float64)
    optimizer = torch.optim.SGD(net.parameters(), 1e-30)
    workers = {"worker": 1, "workers": 2}.get(PLACE, 0)
    data = Nothing() if PLACE == "loop" else Causes()
    sums = {name: [0] * len(FIELDS) for name in NAMES}
    for n, batch in enumerate(DataLoader(data, batch_size=SAMPLES, num_workers=workers)):
        optimizer.zero_grad()
        net(batch).sum().backward()
        mark()
        optimizer.step()
        rows = [once(n, i) for i in range(SAMPLES)] if PLACE == "loop" else batch.tolist()
        name = NAMES[n % len(NAMES)]
        sums[name] = [sum(each) for each in zip(sums[name], *rows)]
    return sums


if __name__ == "__main__":
    result = train()
    print(json.dumps([[ns - marks[0][0], sums] for ns, sums in marks]))
    print(json.dumps({name: dict(zip(FIELDS, sums)) for name, sums in result.items()}))
