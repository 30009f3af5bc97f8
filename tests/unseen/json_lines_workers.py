# SPDX-License-Identifier: Apache-2.0
"""Two workers of an IterableDataset parse lines of JSON, most of which they do not need."""

import json, random, torch, watched as own
from sets import mlp, path
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

with open(path("l.jsonl"), "w") as file:
    numbers = [random.random() for _ in range(3000)]
    line = json.dumps({"x": numbers[:256], "meta": numbers})
    for n in range(1500):
        file.write(line + "\n")


class Lines(IterableDataset):
    def __iter__(self):
        me = get_worker_info()
        with open(path("l.jsonl")) as file:
            for n, line in enumerate(file):
                if n % me.num_workers == me.id:
                    yield torch.tensor(json.loads(line)["x"])


net = mlp(256, 256, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    for x in DataLoader(Lines(), 16, num_workers=2):
        opt.zero_grad()
        net(x).mean().backward()
        opt.step()
        own.step()
own.show(epochs=3)
