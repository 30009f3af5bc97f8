# SPDX-License-Identifier: Apache-2.0
"""An iterable data set over the output of another program, which is the slow part. The pipe holds
half a batch, so that program gets no further ahead while a first step takes long."""

import subprocess
import sys

import numpy as np
import timers as own
import torch
from small import mlp, timed_step
from torch.utils.data import DataLoader, IterableDataset, default_collate

PIPE_BYTES = 4096
PRODUCER = """
import time
for n in range(800):
    time.sleep(0.003)
    print(f"{n % 7}.0 " * 64, flush=True)
"""


class Lines(IterableDataset):
    def __iter__(self):
        command = [sys.executable, "-c", PRODUCER]
        with subprocess.Popen(command, stdout=subprocess.PIPE, pipesize=PIPE_BYTES) as child:
            begin = own.now()
            while line := child.stdout.readline():
                own.add(own.beside, "reading", own.now() - begin)
                row = np.fromstring(line, dtype=np.float32, sep=" ")
                sample = torch.from_numpy(row), int(row[0])
                own.add(own.beside, "making", own.now() - begin)
                yield sample
                begin = own.now()


def collate(samples):
    begin = own.now()
    batch = default_collate(samples)
    own.add(own.beside, "making", own.now() - begin)
    return batch


net = mlp(64, 7)
optimizer = torch.optim.Adam(net.parameters())
for epoch in own.epochs(1):
    for rows, labels in own.batches(DataLoader(Lines(), batch_size=32, collate_fn=collate)):
        timed_step(net, optimizer, rows, labels)
share = own.beside["reading"][1] / own.beside["making"][1]
own.show(tells=["reading from other programs or servers is ", share])
