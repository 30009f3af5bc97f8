# SPDX-License-Identifier: Apache-2.0
"""A sample is one row of a Parquet file, for which its whole row group is read."""

import numpy as np, pyarrow as pa, pyarrow.parquet as pq, torch, watched as own
from sets import mlp, noise, path
from torch.utils.data import DataLoader, Dataset

table = pa.table({f"c{n}": noise(20000, seed=n) for n in range(32)})
pq.write_table(table, path("t.parquet"), row_group_size=2000, compression="zstd")


class Rows(Dataset):
    file = None

    def __len__(self):
        return 1600

    def __getitem__(self, i):
        self.file = self.file or pq.ParquetFile(path("t.parquet"))
        group = self.file.read_row_group(i % 10, use_threads=False)
        return torch.tensor([column[i % 2000].as_py() for column in group.columns])


net = mlp(32, 64, 1)
opt = torch.optim.Adam(net.parameters())
for x in DataLoader(Rows(), 16):
    opt.zero_grad()
    net(x).mean().backward()
    opt.step()
    own.step()
own.show(epochs=1)
