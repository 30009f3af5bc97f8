# SPDX-License-Identifier: Apache-2.0
"""A training loop that waits for a line of its standard input before each step, and prints one
after it."""

import sys

import torch

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for number in range(int(sys.argv[1])):
    sys.stdin.readline()
    with torch.profiler.record_function(f"step {number}"):
        optimizer.zero_grad()
        model(torch.ones(3, 4)).sum().backward()
        optimizer.step()
    print(number, flush=True)
