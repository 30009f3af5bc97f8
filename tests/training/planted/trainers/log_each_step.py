# SPDX-License-Identifier: Apache-2.0
"""Weights written to a log at each step, which waits until the disk has them."""

import json
import os
import sys

import torch
from torch.utils.data import DataLoader

import fit


def train(_folder):
    net = fit.network(512, 256, 2)
    batches = [(torch.rand(32, 512), torch.arange(32) % 2) for _ in range(60)]
    with open(os.path.join(sys.argv[2], "log.jsonl"), "w") as log:

        def write():
            for name, values in net.named_parameters():
                print(
                    json.dumps({"name": name, "values": values.detach().flatten()[:1000].tolist()}),
                    file=log,
                )
            log.flush()
            os.fsync(log.fileno())

        fit.fit(net, DataLoader(batches, batch_size=None), after_step=write)


if __name__ == "__main__":
    fit.main(None, train)
