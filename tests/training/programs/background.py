# SPDX-License-Identifier: Apache-2.0
"""A thread of the program's own reads the DataLoader ahead, three batches deep."""

import queue
import threading

import timers as own
import torch
from small import ConvNet, Images, timed_step
from torch.utils.data import DataLoader


class Background(threading.Thread):
    def __init__(self, source):
        super().__init__(daemon=True)
        self.queue = queue.Queue(3)
        self.source = source
        self.start()

    def run(self):
        for item in self.source:
            self.queue.put(item)
        self.queue.put(None)

    def __iter__(self):
        return self

    def __next__(self):
        item = self.queue.get()
        if item is None:
            raise StopIteration
        return item


net = ConvNet(width=16)
optimizer = torch.optim.Adam(net.parameters())
loader = DataLoader(Images(25 * 16, ms=2), batch_size=16)
for epoch in own.epochs(2):
    for images, labels in own.batches(Background(loader)):
        timed_step(net, optimizer, images, labels)
own.show()
