# SPDX-License-Identifier: Apache-2.0
"""pyarrow reads batches of a Parquet file in the loop, to_pandas makes tensors of them."""

import pyarrow as pa, pyarrow.parquet as pq, torch, watched as own
from sets import mlp, noise, path

table = pa.table({f"c{k}": noise(200000, seed=k) for k in range(24)})
pq.write_table(table, path("t.parquet"), compression="zstd", row_group_size=20000)
net = mlp(24, 128, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    batches = iter(pq.ParquetFile(path("t.parquet")).iter_batches(512))
    while True:
        with own.row("own_input"):
            b = next(batches, None)
            x = None if b is None else torch.from_numpy(b.to_pandas().to_numpy())
        if x is None:
            break
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        own.step()
own.show(
    epochs=None,
    loose=["loader_wait", "forward"],
    why=["input-bound", "decode-bound", "loop-bound", "storage-bound", "unexplained"],
)
