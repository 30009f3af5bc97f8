# SPDX-License-Identifier: Apache-2.0
"""Packed sequences, validation and a deep copy of the best state each epoch, early stopping."""

import copy

import timers as own
import torch
from torch import nn
from torch.nn.utils import rnn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
torch.set_num_threads(1)


class Sequences(Dataset):
    def __init__(self, count):
        generator = torch.Generator().manual_seed(count)
        lengths = torch.randint(8, 40, (count,), generator=generator).tolist()
        self.items = [torch.randn(n, 12, generator=generator) for n in lengths]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        item = self.items[index]
        return item, int(item.sum() > 0)


def collate(batch):
    items = [item for item, _ in batch]
    lengths = torch.tensor([len(item) for item in items])
    return rnn.pad_sequence(items, batch_first=True), lengths, torch.tensor([y for _, y in batch])


class Tracer(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.GRU(12, 64, batch_first=True)
        self.head = nn.Linear(64, 2)

    def forward(self, x, lengths):
        packed = rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return self.head(self.cells(packed)[1][-1])


net = Tracer()
optimizer = torch.optim.AdamW(net.parameters())
schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
learned = DataLoader(Sequences(800), 32, shuffle=True, collate_fn=collate)
held = DataLoader(Sequences(160), 64, collate_fn=collate)
best, state, bad = None, None, 0
for epoch in own.epochs(4):
    net.train()
    for x, lengths, y in own.batches(learned):
        with own.row("zero_grad"):
            optimizer.zero_grad(set_to_none=True)
        with own.row("forward"):
            out = net(x, lengths)
        with own.row("loss"):
            loss = nn.functional.cross_entropy(out, y)
        with own.row("backward"):
            loss.backward()
        nn.utils.clip_grad_value_(net.parameters(), 1.0)
        with own.row("optimizer"):
            optimizer.step()
        own.step()
    net.eval()
    with torch.no_grad(), own.row("validation"):
        losses = [nn.functional.cross_entropy(net(x, n), y).item() for x, n, y in held]
    value = sum(losses) / len(losses)
    schedule.step(value)
    if best is None or value < best:
        best, state, bad = value, copy.deepcopy(net.state_dict()), 0
    else:
        bad += 1
    if bad > 2:
        break
net.load_state_dict(state)
own.show()
