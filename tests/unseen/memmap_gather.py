# SPDX-License-Identifier: Apache-2.0
"""Token windows of a mapped file, gathered by hand as small language models do."""

import numpy as np, torch, watched as own
from sets import path
from torch import nn

np.random.default_rng(0).integers(0, 500, 2_000_000).astype("u2").tofile(path("train.bin"))
block, batch = 64, 24


def get_batch():
    data = np.memmap(path("train.bin"), dtype=np.uint16, mode="r")
    ix = torch.randint(len(data) - block, (batch,))
    x = torch.stack([torch.from_numpy(data[i : i + block].astype(np.int64)) for i in ix])
    y = torch.stack([torch.from_numpy(data[i + 1 : i + 1 + block].astype(np.int64)) for i in ix])
    return x, y


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.att = nn.MultiheadAttention(d, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
        self.l1, self.l2 = nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, x):
        h = self.l1(x)
        x = x + self.att(h, h, h, need_weights=False)[0]
        return x + self.mlp(self.l2(x))


class GPT(nn.Module):
    def __init__(self, d=96):
        super().__init__()
        self.emb, self.head = nn.Embedding(500, d), nn.Linear(d, 500)
        self.blocks = nn.ModuleList(Block(d) for _ in range(3))

    def forward(self, x, y):
        h = self.emb(x)
        for b in self.blocks:
            h = b(h)
        logits = self.head(h)
        return logits, nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())


model = GPT()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)


@torch.no_grad()
def estimate_loss():
    model.eval()
    with own.row("evaluation"):
        for _ in range(10):
            model(*get_batch())
    model.train()


for it in range(150):
    if it % 50 == 0:
        estimate_loss()
    with own.row("own_input"):
        x, y = get_batch()
    for micro in range(1):
        _, loss = model(x, y)
        loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    opt.zero_grad(set_to_none=True)
    own.step()
own.show(epochs=None)
