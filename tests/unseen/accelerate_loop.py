# SPDX-License-Identifier: Apache-2.0
"""accelerate's prepare and accumulate."""

import torch, watched as own
from accelerate import Accelerator
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

acc = Accelerator(cpu=True, gradient_accumulation_steps=2)
net, data = mlp(256, 1024, 1024, 10), TensorDataset(
    torch.randn(6400, 256), torch.randint(0, 10, (6400,))
)
net, opt, dl = acc.prepare(
    net, torch.optim.AdamW(net.parameters()), DataLoader(data, 32, shuffle=True)
)
for epoch in range(2):
    for n, (x, y) in enumerate(dl):
        with acc.accumulate(net):
            loss = torch.nn.functional.cross_entropy(net(x), y)
            acc.backward(loss)
            opt.step()
            opt.zero_grad()
        if acc.sync_gradients:
            own.step()
own.show(epochs=2, loose=["forward", "loss", "loader_wait"])
