# SPDX-License-Identifier: Apache-2.0
"""A recommender that reads groups of rows of a Parquet file in the loop, without a DataLoader."""

import numpy as np
import pyarrow
import pyarrow.parquet as parquet
import timers as own
import torch
from small import mlp
from torch import nn

ROWS, USERS, ITEMS = 30 * 2048, 20000, 5000


def write():
    generator = np.random.default_rng(0)
    columns = {"user": generator.integers(0, USERS, ROWS)}
    columns["item"] = generator.integers(0, ITEMS, ROWS)
    columns["rating"] = generator.random(ROWS, np.float32)
    for number in range(20):
        columns[f"x{number}"] = generator.random(ROWS, np.float32)
    parquet.write_table(pyarrow.table(columns), "rows.parquet", row_group_size=2048)


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.users, self.items = nn.EmbeddingBag(USERS, 32), nn.EmbeddingBag(ITEMS, 32)
        self.top = mlp(84, 1, 128, 2)

    def forward(self, users, items, dense):
        vectors = self.users(users.unsqueeze(1)), self.items(items.unsqueeze(1))
        return self.top(torch.cat([*vectors, dense], 1)).squeeze(1)


def batches():
    file = parquet.ParquetFile("rows.parquet")
    for group in file.iter_batches(2048):
        table = {name: torch.tensor(group[name].to_numpy()) for name in group.schema.names}
        dense = torch.stack([v for name, v in table.items() if name[0] == "x"], 1)
        yield table["user"], table["item"], dense, table["rating"]


write()
net = Recommender()
optimizer = torch.optim.Adagrad(net.parameters(), 0.01)
for epoch in own.epochs(2):
    for users, items, dense, rating in own.batches(batches(), "own_input"):
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("forward"):
            out = net(users, items, dense)
        with own.row("loss"):
            loss = nn.functional.mse_loss(out, rating)
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
own.show(epochs=None, loose=["loader_wait"])
