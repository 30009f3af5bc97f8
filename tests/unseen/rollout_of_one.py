# SPDX-License-Identifier: Apache-2.0
"""A rollout fetches one observation by 10 ms of tensor work and asks the policy once."""

import time, torch, watched as own
from sets import mlp

torch.manual_seed(0)
policy, big = mlp(64, 256, 8), torch.randn(400, 400)
opt = torch.optim.Adam(policy.parameters())


def fetch():
    begin, x = time.perf_counter(), big
    while time.perf_counter() - begin < 0.01:
        x = (x @ big).tanh()
    return x[:128, :64]


for n in range(60):
    with own.row("evaluation"), torch.no_grad():
        x = fetch()
        policy(x)
    for _ in range(2):
        opt.zero_grad()
        policy(x).pow(2).mean().backward()
        opt.step()
        own.step()
own.show(epochs=None, loose=["evaluation"], why=["evaluation-bound", "loop-bound", "cannot-tell"])
