# SPDX-License-Identifier: Apache-2.0
"""A recurrent network over long sequences, a step for each piece; the state is carried on."""

import timers as own
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
PIECE = 20


class Next(nn.Module):
    def __init__(self, words=50, width=128):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.memory = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, words)

    def forward(self, words, state):
        out, state = self.memory(self.embedding(words), state)
        return self.head(out), state


net = Next()
optimizer = torch.optim.Adam(net.parameters())
texts = torch.randint(0, 50, (24, 5 * PIECE + 1))
for epoch in own.epochs(4):
    for (text,) in own.batches(DataLoader(TensorDataset(texts), batch_size=8, shuffle=True)):
        state = None
        for at in range(0, 5 * PIECE, PIECE):
            words, wanted = text[:, at : at + PIECE], text[:, at + 1 : at + PIECE + 1]
            with own.row("zero_grad"):
                optimizer.zero_grad()
            with own.row("forward"):
                out, state = net(words, state)
            with own.row("loss"):
                loss = nn.functional.cross_entropy(out.transpose(1, 2), wanted)
            with own.row("backward"):
                loss.backward()
            with own.row("optimizer"):
                optimizer.step()
            state = tuple(part.detach() for part in state)
            own.step()
own.show()
