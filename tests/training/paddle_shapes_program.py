# SPDX-License-Identifier: Apache-2.0
"""Paddle loops of two shapes; prints what the one that is asked for counted itself.

    python3 paddle_shapes_program.py fit|scaled    prints JSON: {"steps", "epochs": steps of each}
"""

import json
import sys

import numpy
import paddle
from paddle import nn
from paddle.io import DataLoader, Dataset, IterableDataset

ROWS, BATCH, EPOCHS = 48, 8, 2
BATCHES = ROWS // BATCH


def row(index):
    return numpy.full(16, index, "f4"), numpy.array([index % 3])


class Rows(Dataset):
    def __len__(self):
        return ROWS

    def __getitem__(self, index):
        return row(index)


class Stream(IterableDataset):
    def __iter__(self):
        return map(row, range(ROWS))


def network():
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 3))


def fit():
    """The high-level interface: the framework's own loop, validation, checkpoints."""
    net = network()
    model = paddle.Model(net)
    model.prepare(paddle.optimizer.Adam(parameters=net.parameters()), nn.CrossEntropyLoss())
    model.fit(Rows(), Rows(), batch_size=BATCH, epochs=EPOCHS, verbose=0, save_dir="checkpoints")


def scaled():
    """A scaler that minimizes; a worker that iterates; validation without gradients."""
    net = network()
    optimizer = paddle.optimizer.Momentum(0.01, parameters=net.parameters())
    scaler = paddle.amp.GradScaler(enable=False)
    for _ in range(EPOCHS):
        for rows, labels in DataLoader(Stream(), batch_size=BATCH, num_workers=1):
            loss = nn.functional.cross_entropy(net(rows), labels)
            scaler.scale(loss).backward()
            scaler.minimize(optimizer, loss)
            optimizer.clear_grad()
        with paddle.no_grad():
            for rows, _ in DataLoader(Rows(), batch_size=BATCH):
                net(rows)


if __name__ == "__main__":
    {"fit": fit, "scaled": scaled}[sys.argv[1]]()
    print(json.dumps({"steps": EPOCHS * BATCHES, "epochs": [BATCHES] * EPOCHS}))
