# SPDX-License-Identifier: Apache-2.0
"""All batches are taken into a list ahead of the training, which then waits for none."""

import own_timers as own

net = own.Net()
optimizer = own.adam(net)
with own.timer("listed"):
    batches = list(own.loader(30, ms=10))
for rows, labels in batches:
    own.step(net, optimizer, rows, labels)
own.show()
