# SPDX-License-Identifier: Apache-2.0
"""Trains with sleeps of known length, and times them itself.

A batch takes 40 ms and a step 20 ms. WORKERS: number of workers of the loader. At the end it prints
the mean of its batches and of its steps without them, in ns, as JSON. STREAM: an IterableDataset.
"""

import json
import os
import time

import torch

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
batch_ns, step_ns = 0, 0
for rows in loader:
    began = time.perf_counter_ns()
    batch_ns += int(rows.sum())
    loss = net(rows).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step_ns += time.perf_counter_ns() - began
print(json.dumps({"batch_ns": batch_ns // STEPS, "step_ns": step_ns // STEPS}))
