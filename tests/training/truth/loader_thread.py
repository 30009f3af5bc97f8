# SPDX-License-Identifier: Apache-2.0
"""A DataLoader that a thread reads ahead into a queue; batches take longer than steps.

    loader_thread.py [within]    within: the loader's own class starts the thread
"""

import queue
import sys
import threading

import own_timers as own
from torch.utils.data import DataLoader


def ahead(source, iterator=None):
    batches = queue.Queue(2)

    def read():
        for batch in iterator or source:
            batches.put(batch)
        batches.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        with own.timer("wait"):
            batch = batches.get()
        if batch is None:
            return
        yield batch


class Ahead(DataLoader):
    def __iter__(self):
        return ahead(self, super().__iter__())


net = own.Net(2, 2)
optimizer = own.adam(net)
rows = own.Rows(4 * 25, 30 / 4)
if sys.argv[1:] == ["within"]:
    source = Ahead(rows, batch_size=4)
else:
    source = DataLoader(rows, batch_size=4)
for _ in range(2):
    for values, labels in source if isinstance(source, Ahead) else ahead(source):
        own.step(net, optimizer, values, labels)
own.show()
