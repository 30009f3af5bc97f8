# SPDX-License-Identifier: Apache-2.0
"""A checkpoint is pickled, hashed and compressed by gzip each tenth step."""

import gzip, hashlib, pickle, torch, watched as own
from sets import mlp, path
from torch.utils.data import DataLoader, TensorDataset

net = mlp(512, 512, 256, 10)
opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
for (x,) in DataLoader(TensorDataset(torch.randn(9600, 512)), 32):
    opt.zero_grad()
    net(x).square().mean().backward()
    opt.step()
    own.step()
    if own.count["steps"] % 10 == 0:
        with own.row("checkpoint"):
            blob = pickle.dumps({k: v.numpy() for k, v in net.state_dict().items()})
            digest = hashlib.sha256(blob).hexdigest()
            with gzip.open(path(digest[:8] + ".gz"), "wb", 6) as file:
                file.write(blob)
own.show(epochs=1, loose=["checkpoint"], why=["checkpoint-bound", "loop-bound"])
