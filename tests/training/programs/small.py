# SPDX-License-Identifier: Apache-2.0
"""Models and data that many of the programs share, of some milliseconds a call."""

import time

import numpy as np
import timers as own
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
torch.set_num_threads(1)


class Images(Dataset):
    """Pictures out of a random generator; `ms` is what making one takes."""

    def __init__(self, count, size=32, ms=0.0, classes=10):
        self.count, self.size, self.ms, self.classes = count, size, ms, classes

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.ms:
            time.sleep(self.ms / 1000)
        generator = np.random.default_rng(index)
        image = generator.standard_normal((3, self.size, self.size), dtype=np.float32)
        return torch.from_numpy(image), index % self.classes


def conv(classes=10, width=32):
    return nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(2 * width, classes),
    )


class ConvNet(nn.Module):
    def __init__(self, classes=10, width=32):
        super().__init__()
        self.body = conv(classes, width)

    def forward(self, images):
        return self.body(images)


def mlp(inputs, outputs, width=512, depth=3):
    sizes = [inputs] + [width] * depth
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, outputs))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        h = self.norm1(x)
        mask = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), 1)
        x = x + self.attention(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class Language(nn.Module):
    """A small decoder; gives the loss itself where it has targets."""

    def __init__(self, words=256, width=128, depth=2, length=64):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, 4) for _ in range(depth))
        self.head = nn.Linear(width, words)
        self.length = length

    def forward(self, tokens, targets=None):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        logits = self.head(x)
        if targets is None:
            return logits
        return logits, nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def timed_step(net, optimizer, images, labels):
    """The step that most trainers of pictures take, each part in its own timer."""
    with own.row("zero_grad"):
        optimizer.zero_grad()
    with own.row("forward"):
        out = net(images)
    with own.row("loss"):
        loss = nn.functional.cross_entropy(out, labels)
    with own.row("backward"):
        loss.backward()
    with own.row("optimizer"):
        optimizer.step()
    own.step()


def train_and_save(net, save):
    """Two epochs of 30 steps over pictures of 16 x 16. `save(number, optimizer)` is the checkpoint
    after every tenth step."""
    optimizer = torch.optim.Adam(net.parameters())
    loader = DataLoader(Images(30 * 16, 16), batch_size=16, shuffle=True)
    number = 0
    for _ in own.epochs(2):
        for images, labels in own.batches(loader):
            timed_step(net, optimizer, images, labels)
            number += 1
            if number % 10 == 0:
                with own.row("checkpoint"):
                    save(number, optimizer)
    own.show()
