# SPDX-License-Identifier: Apache-2.0
"""An optimizer that asks for forward and backward itself, several times a step."""

import time

import own_timers as own
import torch

net = own.Net(5, 5)
optimizer = torch.optim.LBFGS(
    net.parameters(), lr=0.1, max_iter=5, tolerance_grad=0, tolerance_change=0
)
gather = optimizer._gather_flat_grad


def slow_gather():
    time.sleep(0.008)  # the optimizer's own work
    return gather()


optimizer._gather_flat_grad = slow_gather
inside = [0]
rows, labels = torch.randn(4, 8), torch.zeros(4, dtype=torch.long)


def closure():
    begin = time.perf_counter_ns()
    optimizer.zero_grad()
    with own.timer("forward"):
        out = net(rows)
    loss = torch.nn.functional.cross_entropy(out, labels)
    with own.timer("backward"):
        loss.backward()
    inside[0] += time.perf_counter_ns() - begin
    return loss


for _ in own.batches(own.loader(20)):
    with own.timer("whole"):
        optimizer.step(closure)
calls, whole_ns, waited_ns = own.totals["whole"]
own.totals["optimizer"] = calls, whole_ns - inside[0], waited_ns
own.show()
