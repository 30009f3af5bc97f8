# SPDX-License-Identifier: Apache-2.0
"""An iterable data set over the output of another program, which is the slow part."""

import subprocess
import sys

import timers as own
import torch
from small import mlp, timed_step
from torch.utils.data import DataLoader, IterableDataset

PRODUCER = "import time\nfor n in range(1600):\n time.sleep(0.001)\n print(n, flush=True)"


class Lines(IterableDataset):
    def __iter__(self):
        with subprocess.Popen([sys.executable, "-c", PRODUCER], stdout=subprocess.PIPE) as child:
            for line in child.stdout:
                number = int(line)
                yield torch.full((64,), float(number % 7)), number % 7


net = mlp(64, 7)
optimizer = torch.optim.Adam(net.parameters())
for epoch in own.epochs(1):
    for rows, labels in own.batches(DataLoader(Lines(), batch_size=32)):
        timed_step(net, optimizer, rows, labels)
own.show(says="reading from other programs or servers is 9")
