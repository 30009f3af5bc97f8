# SPDX-License-Identifier: Apache-2.0
"""Saves in nearly every step, to a file that is renamed."""

import os

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset


class Gpt(nn.Module):
    def __init__(self, width=192, words=4000):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(width, words)

    def forward(self, x):
        return self.head(self.blocks(self.embed(x)))


def save(model, optimizer, path="last.pt"):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path + ".tmp")
    os.replace(path + ".tmp", path)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Gpt()
    optimizer = torch.optim.AdamW(model.parameters())
    text = torch.randint(0, 4000, (320, 65))
    loader = DataLoader(TensorDataset(text), batch_size=8, shuffle=True)
    best = 1e9
    for (x,) in loader:
        logits = model(x[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), x[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss < best + 1:
            best = min(best, loss.detach())
            save(model, optimizer)  # edit


if __name__ == "__main__":
    main()
