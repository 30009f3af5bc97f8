# SPDX-License-Identifier: Apache-2.0
"""A collate_fn that tokenises by merging pairs in Python."""

import random, string, torch, watched as own
from torch import nn
from torch.utils.data import DataLoader

random.seed(0)
texts = [
    " ".join(
        "".join(random.choices(string.ascii_lowercase, k=random.randint(2, 9))) for _ in range(60)
    )
    for _ in range(1500)
]
merges = {tuple(random.choices(string.ascii_lowercase, k=2)): n + 30 for n in range(300)}


def encode(text):
    ids = []
    for word in text.split():
        parts = list(word)
        while True:
            pairs = [(merges[p], k) for k, p in enumerate(zip(parts, parts[1:])) if p in merges]
            if not pairs:
                break
            _, k = min(pairs)
            parts[k : k + 2] = ["".join(parts[k : k + 2])]
        ids += [hash(p) % 1000 for p in parts]
    return ids


def collate(batch):
    ids = [torch.tensor(encode(t)[:256]) for t in batch]
    return nn.utils.rnn.pad_sequence(ids, batch_first=True)


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.r, self.o = (
            nn.Embedding(1000, 32),
            nn.GRU(32, 32, batch_first=True),
            nn.Linear(32, 2),
        )

    def forward(self, x):
        return self.o(self.r(self.e(x))[0][:, -1])


m = LM()
o = torch.optim.Adam(m.parameters())
for epoch in range(3):
    for x in DataLoader(texts, batch_size=16, shuffle=True, collate_fn=collate):
        loss = m(x).logsumexp(1).mean()
        o.zero_grad()
        loss.backward()
        o.step()
        own.step()
own.show(epochs=3)
