# SPDX-License-Identifier: Apache-2.0
"""Trains under its own torch.profiler, and labels two parts of a step, one inside the other."""

import torch

STEPS = 30
net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = torch.profiler.schedule(wait=0, warmup=1, active=STEPS)
with torch.profiler.profile(
    activities=[torch.profiler.ProfilerActivity.CPU], schedule=schedule
) as profiler:
    for _ in range(STEPS):
        with torch.profiler.record_function("outer"):
            for _ in range(2):
                with torch.profiler.record_function("inner"):
                    loss = net(torch.ones(3, 4)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        profiler.step()
