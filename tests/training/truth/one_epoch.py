# SPDX-License-Identifier: Apache-2.0
"""One epoch of fine-tuning: most of its life lies before the first step and after the last one."""

import time

import own_timers as own

with own.timer("start_up"):
    time.sleep(0.6)
net = own.Net()
optimizer = own.adam(net)
with own.timer("steps"):
    for rows, labels in own.batches(own.loader(30)):
        own.step(net, optimizer, rows, labels, loss_ms=5)
with own.timer("validation"), own.torch.no_grad():
    for rows, _ in own.loader(10):
        net(rows)
own.save(0.4)
with own.timer("rest"):
    time.sleep(0.3)
own.show(life_s=time.time() - own.born_s())
