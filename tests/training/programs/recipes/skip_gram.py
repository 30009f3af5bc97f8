# SPDX-License-Identifier: Apache-2.0
"""Word vectors with negative samples: sparse gradients, a collate function that does the work."""

import numpy as np
import timers as own
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
torch.set_num_threads(1)

WORDS, WINDOW, NEGATIVES = 5000, 4, 8


class Windows(Dataset):
    def __init__(self):
        self.text = np.random.default_rng(0).zipf(1.3, 12000) % WORDS

    def __len__(self):
        return 60 * 128

    def __getitem__(self, index):
        around = self.text[index : index + 2 * WINDOW + 1]
        return int(around[WINDOW]), np.delete(around, WINDOW)


def collate(batch):
    centres = torch.tensor([centre for centre, _ in batch])
    near = torch.from_numpy(np.stack([around for _, around in batch]))
    return centres, near, torch.randint(WORDS, (len(batch), NEGATIVES))


class SkipGram(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Embedding(WORDS, 64, sparse=True)
        self.outer = nn.Embedding(WORDS, 64, sparse=True)

    def forward(self, centres, near, negatives):
        inner = self.inner(centres).unsqueeze(2)
        good = torch.bmm(self.outer(near), inner).squeeze(2)
        bad = torch.bmm(self.outer(negatives), inner).squeeze(2)
        logsigmoid = nn.functional.logsigmoid
        return -(logsigmoid(good).mean() + logsigmoid(-bad).mean())


net = SkipGram()
optimizer = torch.optim.SparseAdam(list(net.parameters()), 1e-3)
loader = DataLoader(Windows(), batch_size=128, shuffle=True, collate_fn=collate)
for epoch in own.epochs(2):
    for centres, near, negatives in own.batches(loader):
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("forward"):
            loss = net(centres, near, negatives)
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
own.show()
