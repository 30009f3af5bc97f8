# SPDX-License-Identifier: Apache-2.0
"""Samples in compressed pickles, one file each, read by the training thread."""

import gzip
import os
import pickle

import timers as own
import torch
from small import ConvNet, timed_step
from torch.utils.data import DataLoader, Dataset


class Pickles(Dataset):
    def __init__(self, folder, count):
        self.folder, self.count = folder, count
        os.makedirs(folder)
        for index in range(count):
            with gzip.open(self.path(index), "wb", compresslevel=1) as file:
                pickle.dump((torch.randn(3, 48, 48), index % 10), file)

    def path(self, index):
        return os.path.join(self.folder, f"{index:05}.pkl.gz")

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        with gzip.open(self.path(index), "rb") as file:
            return pickle.load(file)


net = ConvNet(width=16)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
loader = DataLoader(Pickles("samples", 30 * 16), batch_size=16, shuffle=True)
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        timed_step(net, optimizer, images, labels)
own.show()
