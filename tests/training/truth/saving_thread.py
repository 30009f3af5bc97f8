# SPDX-License-Identifier: Apache-2.0
"""Checkpoints that a thread saves while training goes on; nobody waits for them."""

import threading

import own_timers as own

net = own.Net()
optimizer = own.adam(net)
saving = []
for number, (rows, labels) in enumerate(own.batches(own.loader(60))):
    own.step(net, optimizer, rows, labels)
    if number % 20 == 5:
        saving.append(threading.Thread(target=own.save, args=(0.2, "saved", f"model-{number}.pt")))
        saving[-1].start()
while any(thread.is_alive() for thread in saving):  # on a slow machine, too, nobody waits
    own.step(net, optimizer, rows, labels)
own.show()
