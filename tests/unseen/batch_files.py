# SPDX-License-Identifier: Apache-2.0
"""torch.load of one file for each step, as preprocessed batches are kept."""

import torch, watched as own
from sets import mlp, path

save = torch.save.__wrapped__
for n in range(100):
    save({"x": torch.randn(512, 1024), "y": torch.randint(0, 5, (512,))}, path("b", f"{n}.pt"))
net = mlp(1024, 64, 5)
opt = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(4):
    for n in range(100):
        with own.row("own_input"):
            b = torch.load(path("b", f"{n}.pt"))
        loss = torch.nn.functional.cross_entropy(net(b["x"]), b["y"])
        opt.zero_grad()
        loss.backward()
        opt.step()
        own.step()
own.show(epochs=None, loose=["loader_wait", "checkpoint"])
