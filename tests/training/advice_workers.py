# SPDX-License-Identifier: Apache-2.0
"""Trains with sleeps of known length, and times them itself.

A batch takes 40 ms and a step 20 ms. WORKERS: number of workers of the loader. STREAM: an
IterableDataset. At the end it prints JSON: the mean of its batches, of its steps without them, and
of what this thread waited for a core in a step, in ns.
"""

import json
import os
import time

import torch

from core_wait import core_wait_ns

STEPS = 30


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 2 * STEPS

    def __getitem__(self, index):
        began = time.perf_counter_ns()
        time.sleep(0.020)
        return torch.tensor([time.perf_counter_ns() - began])


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        rows = Rows()
        for index in range(len(rows)):
            yield rows[index]


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 2)

    def forward(self, rows):
        time.sleep(0.020)
        return self.layer(rows.float().expand(-1, 8))


torch.set_num_threads(1)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
rows = Stream() if os.environ.get("STREAM") else Rows()
loader = torch.utils.data.DataLoader(rows, batch_size=2, num_workers=int(os.environ["WORKERS"]))
batch_ns, step_ns, waited = 0, 0, core_wait_ns()
for rows in loader:
    began = time.perf_counter_ns()
    batch_ns += int(rows.sum())
    loss = net(rows).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step_ns += time.perf_counter_ns() - began
sums = {"batch_ns": batch_ns, "step_ns": step_ns, "core_wait_ns": core_wait_ns() - waited}
print(json.dumps({name: ns // STEPS for name, ns in sums.items()}))
