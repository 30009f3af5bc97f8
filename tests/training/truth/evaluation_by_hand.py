# SPDX-License-Identifier: Apache-2.0
"""A small trainer of language models: no DataLoader, and evaluation by hand in the loop."""

import time

import own_timers as own

net = own.Net(forward_ms=20, backward_ms=5)
optimizer = own.adam(net)


def batch():
    return own.torch.zeros(4, 8), own.torch.zeros(4, dtype=own.torch.long)


def estimate():
    net.eval()
    with own.timer("evaluation"), own.torch.no_grad():
        for _ in range(10):
            rows, _ = batch()
            net(rows)
            time.sleep(0.002)
    net.train()


for number in range(40):
    if number % 10 == 0:
        estimate()
    with own.timer("step"):
        own.step(net, optimizer, *batch())
own.show()
