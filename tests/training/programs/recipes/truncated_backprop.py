# SPDX-License-Identifier: Apache-2.0
"""A recurrent language model by truncated backpropagation: no DataLoader, hidden state kept."""

import timers as own
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

WORDS, WIDTH, COLUMNS, LENGTH = 400, 96, 16, 24


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.cells = nn.LSTM(WIDTH, WIDTH, 2)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens, state):
        out, state = self.cells(self.words(tokens), state)
        return self.head(out), state


def columns(count):
    return torch.randint(WORDS, (count * COLUMNS,)).view(COLUMNS, -1).t().contiguous()


def fresh():
    return torch.zeros(2, COLUMNS, WIDTH), torch.zeros(2, COLUMNS, WIDTH)


def evaluate(net, source):
    net.eval()
    state, total = fresh(), 0.0
    with torch.no_grad():
        for i in range(0, len(source) - 1, LENGTH):
            count = min(LENGTH, len(source) - 1 - i)
            out, state = net(source[i : i + count], state)
            state = tuple(s.detach() for s in state)
            target = source[i + 1 : i + 1 + count].reshape(-1)
            total += count * nn.functional.cross_entropy(out.view(-1, WORDS), target).item()
    return total / len(source)


net, learned, held = Recurrent(), columns(721), columns(241)
optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
best = None
for epoch in own.epochs(2):
    net.train()
    state = fresh()
    for i in range(0, len(learned) - 1, LENGTH):
        tokens = learned[i : i + LENGTH]
        target = learned[i + 1 : i + 1 + LENGTH].reshape(-1)
        with own.row("zero_grad"):
            net.zero_grad()
        state = tuple(s.detach() for s in state)
        with own.row("forward"):
            out, state = net(tokens, state)
        with own.row("loss"):
            loss = nn.functional.cross_entropy(out.view(-1, WORDS), target)
        with own.row("backward"):
            loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.25)
        with own.row("optimizer"):
            optimizer.step()
        own.step()
    with own.row("evaluation"):
        value = evaluate(net, held)
    if best is None or value < best:
        with own.row("checkpoint"):
            torch.save(net, "model.pt")
        best = value
own.show(epochs=None)
