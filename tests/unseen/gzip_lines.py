# SPDX-License-Identifier: Apache-2.0
"""Lines of JSON in gzip files, an iterable data set, one worker."""

import gzip, json, random, torch, watched as own
from sets import path
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

names = [path("lines", f"{n}.jsonl.gz") for n in range(4)]
for name in names:
    with gzip.open(name, "wt", compresslevel=1) as file:
        for _ in range(1500):
            words = [random.randrange(20000) for _ in range(256)]
            file.write(json.dumps({"ids": words, "label": random.randrange(4)}) + "\n")


class Lines(IterableDataset):
    def __iter__(self):
        for name in names:
            with gzip.open(name, "rt") as file:
                for line in file:
                    record = json.loads(line)
                    yield torch.tensor(record["ids"]), record["label"]


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.out = nn.EmbeddingBag(20000, 64), nn.Linear(64, 4)

    def forward(self, x):
        return self.out(self.emb(x))


net = Bag()
opt = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(6):
    for ids, label in DataLoader(Lines(), batch_size=64, num_workers=1):
        opt.zero_grad()
        nn.functional.cross_entropy(net(ids), label).backward()
        opt.step()
        own.step()
own.show(epochs=6)
