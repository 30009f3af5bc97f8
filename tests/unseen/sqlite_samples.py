# SPDX-License-Identifier: Apache-2.0
"""Samples are rows of SQLite that each worker asks for by number."""

import sqlite3, numpy as np, torch, watched as own
from sets import mlp, noise, path
from torch.utils.data import DataLoader, Dataset

base = sqlite3.connect(path("s.db"))
base.execute("create table s (id integer primary key, x blob, y int)")
base.executemany(
    "insert into s values (?, ?, ?)",
    ((n, noise(1024, seed=n).tobytes(), n % 3) for n in range(2000)),
)
base.commit()
base.close()


class Sql(Dataset):
    con = None

    def __len__(self):
        return 20000

    def __getitem__(self, i):
        if self.con is None:
            self.con = sqlite3.connect(path("s.db"))
        x, y = self.con.execute("select x, y from s where id = ?", (i % 2000,)).fetchone()
        return torch.from_numpy(np.frombuffer(x, "f4").copy()), y


model = mlp(1024, 32, 3)
opt = torch.optim.SGD(model.parameters(), 0.1)
for epoch in range(2):
    for x, y in DataLoader(Sql(), 64, shuffle=True, num_workers=1):
        opt.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
        own.step()
own.show(epochs=2)
