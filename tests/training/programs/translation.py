# SPDX-License-Identifier: Apache-2.0
"""An encoder and a decoder, each with its optimizer; the decoder is called word by word."""

import timers as own
import torch
from torch import nn

torch.set_num_threads(1)


class Encoder(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.words, self.gru = nn.Embedding(1000, width), nn.GRU(width, width, batch_first=True)

    def forward(self, x):
        return self.gru(self.words(x))


class Decoder(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.words, self.gru = nn.Embedding(1000, width), nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, 1000)

    def forward(self, word, state):
        out, state = self.gru(self.words(word), state)
        return self.out(out), state


encoder, decoder = Encoder(), Decoder()
optimizers = [torch.optim.SGD(part.parameters(), lr=0.01) for part in (encoder, decoder)]
loss_of = nn.CrossEntropyLoss()
for _ in range(50):
    source, wanted = torch.randint(0, 1000, (2, 32, 16))
    for optimizer in optimizers:
        with own.row("zero_grad"):
            optimizer.zero_grad()
    with own.row("forward"):
        _, state = encoder(source)
    loss = 0
    for place in range(15):
        word = wanted[:, place : place + 1]
        with own.row("forward"):
            out, state = decoder(word, state)
        with own.row("loss"):
            loss = loss + loss_of(out[:, 0], wanted[:, place + 1])
    with own.row("backward"):
        loss.backward()
    for optimizer in optimizers:
        with own.row("optimizer"):
            optimizer.step()
    own.step()
own.show(epochs=None)
