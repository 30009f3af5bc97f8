# SPDX-License-Identifier: Apache-2.0
"""The dataset of one worker hands the samples of a batch to a pool of threads, which compute."""

import concurrent.futures

import numpy
import timers as own
import torch
from small import mlp, timed_step
from torch.utils.data import DataLoader, Dataset


class Sorted(Dataset):
    pool = None

    def __len__(self):
        return 40 * 16

    def one(self, index):
        values = numpy.random.default_rng(index).random(60000)
        values.sort()
        return torch.from_numpy(values[::1000].astype("f4")), index % 10

    def __getitems__(self, indices):
        if not self.pool:
            self.pool = concurrent.futures.ThreadPoolExecutor(4)
        return list(self.pool.map(self.one, indices))


net = mlp(60, 10, 128, 2)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for epoch in own.epochs(2):
    for rows, labels in own.batches(DataLoader(Sorted(), batch_size=16, num_workers=1)):
        timed_step(net, optimizer, rows, labels)
own.show(denies=["needs no core", "a lock"])
