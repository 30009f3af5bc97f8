# SPDX-License-Identifier: Apache-2.0
"""Two rounds of forward and backward a step, between which the weights are changed: by methods of
an optimizer, or by functions of the program's own (`own`)."""

import sys
import time

import own_timers as own
import torch


class TwoRounds(torch.optim.SGD):
    def first_step(self):
        time.sleep(0.008)
        self.zero_grad()

    def second_step(self):
        time.sleep(0.004)
        self.step()
        self.zero_grad()


net = own.Net(5, 5)
optimizer = TwoRounds(net.parameters(), lr=0.01)
first, second = optimizer.first_step, optimizer.second_step
if "own" in sys.argv:

    def first():
        time.sleep(0.008)
        net.zero_grad()

    def second():
        time.sleep(0.004)
        optimizer.step()


for rows, labels in own.batches(own.loader(30)):
    for change in (first, second):
        with own.timer("forward"):
            out = net(rows)
        loss = torch.nn.functional.cross_entropy(out, labels)
        with own.timer("backward"):
            loss.backward()
        with own.timer("optimizer"):
            change()
own.show()
