# SPDX-License-Identifier: Apache-2.0
"""An ordinary step of training, with all that the library records of it and with nothing, in one
process.

    [LD_PRELOAD=libstageprof.so] python3 real_steps.py resnet|transformer PAIRS

A loader, forward, backward, AdamW, zero_grad: some 50 ms. Blocks of steps take turns with blocks in
which PyTorch's callbacks are disabled, the wrapped calls are those of before, and the run is
switched off. Without the library both sorts are the same program, and show the noise of the method.
Prints the lines of alternate.h.
"""

import glob
import os
import struct
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import turns
from toy_steps import Marks

WARM_STEPS, BLOCK_STEPS = 10, 2
OFF_AT = 48  # docs/FORMAT.md, RUN
CLASSES = 10


class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return 1000000

    def __getitem__(self, index):
        return self.rows[index % len(self.rows)], index % CLASSES


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x):
        return torch.relu(x + self.body(x))


def resnet():
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1),
        *(Residual(32) for _ in range(3)),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, CLASSES),
    )
    return model, torch.randn(64, 3, 32, 32)


class Transformer(nn.Module):
    def __init__(self, width=128, words=500, layers=2):
        super().__init__()
        self.words = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        return self.head(self.encoder(self.words(x)).mean(1))


def transformer():
    return Transformer(), torch.randint(0, 500, (64, 64))


def make(shape):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model, rows = {"resnet": resnet, "transformer": transformer}[shape]()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    batches = iter(DataLoader(Rows(rows), batch_size=8))

    def step():
        x, labels = next(batches)
        nn.functional.cross_entropy(model(x), labels).backward()
        optimizer.step()
        optimizer.zero_grad()

    return optimizer, step


def switch_of(optimizer):
    if not os.environ.get("STAGEPROF_OUTPUT"):
        return lambda on: None
    marks = Marks(optimizer)
    (marker,) = glob.glob(os.path.join(glob.escape(os.environ["STAGEPROF_OUTPUT"]), "0-run-*.zst"))
    run = os.open(marker, os.O_WRONLY)

    def switch(on):
        marks.set(on)
        os.pwrite(run, struct.pack("<I", not on), OFF_AT)

    return switch


def main(shape, pairs):
    optimizer, step = make(shape)
    for _ in range(WARM_STEPS):
        step()
    turns.take(step, switch_of(optimizer), pairs, BLOCK_STEPS)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
