# SPDX-License-Identifier: Apache-2.0
"""A thread that reads a DataLoader with a worker ahead, and copies each batch into kept buffers."""

import queue
import threading

import timers as own
import torch
from small import ConvNet, Images, timed_step
from torch.utils.data import DataLoader

DEPTH = 3


class Prefetcher:
    def __init__(self, loader):
        self.loader = loader
        self.free, self.full = queue.Queue(), queue.Queue()
        for _ in range(DEPTH):
            self.free.put((torch.empty(16, 3, 32, 32), torch.empty(16, dtype=torch.long)))

    def fill(self):
        for images, labels in self.loader:
            kept = self.free.get()
            kept[0].copy_(images, non_blocking=True)
            kept[1].copy_(labels, non_blocking=True)
            self.full.put(kept)
        self.full.put(None)

    def __iter__(self):
        thread = threading.Thread(target=self.fill, daemon=True)
        thread.start()
        while True:
            with own.row("loader_wait"):
                kept = self.full.get()
            if kept is None:
                break
            yield kept
            self.free.put(kept)
        thread.join()


if __name__ == "__main__":
    net = ConvNet(width=16)
    optimizer = torch.optim.Adam(net.parameters())
    loader = DataLoader(Images(40 * 16, ms=1.2), batch_size=16, num_workers=1)
    for epoch in own.epochs(2):
        for images, labels in Prefetcher(loader):
            timed_step(net, optimizer, images, labels)
    own.show()
