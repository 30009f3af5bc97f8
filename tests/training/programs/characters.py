# SPDX-License-Identifier: Apache-2.0
"""A recurrent network on text cut by hand: the state is detached from step to step."""

import timers as own
import torch
from torch import nn

torch.set_num_threads(1)


class Characters(nn.Module):
    def __init__(self, words=96, width=192):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.rnn = nn.LSTM(width, width, 2, batch_first=True)
        self.head = nn.Linear(width, words)

    def forward(self, tokens, state=None):
        out, state = self.rnn(self.words(tokens), state)
        return self.head(out), state


text = torch.randint(0, 96, (16, 32 * 25 + 1))
net = Characters()
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(3):
    state = None
    for begin in range(0, text.shape[1] - 1, 32):
        x, y = text[:, begin : begin + 32], text[:, begin + 1 : begin + 33]
        if state is not None:
            state = tuple(part.detach() for part in state)
        with own.row("forward"):
            out, state = net(x, state)
        with own.row("loss"):
            loss = nn.functional.cross_entropy(out.flatten(0, 1), y.flatten())
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5)
        with own.row("optimizer"):
            optimizer.step()
        own.step()
    with own.row("evaluation"), torch.no_grad():
        token, state, told = torch.zeros(1, 1, dtype=torch.long), None, []
        for _ in range(60):
            out, state = net(token, state)
            token = out[:, -1].softmax(-1).multinomial(1)
            told.append(token.item())
own.show(epochs=None)
