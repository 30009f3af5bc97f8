# SPDX-License-Identifier: Apache-2.0
"""Gradients of four batches, a norm that is clipped, a schedule, and a mean loss for the log."""

import torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

X, Y = torch.randn(12800, 256), torch.randint(0, 10, (12800,))
net = mlp(256, 1024, 1024, 10)
optim = torch.optim.AdamW(net.parameters(), 1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(optim, 400)
dl = DataLoader(TensorDataset(X, Y), 32, shuffle=True, num_workers=1)
running = 0.0
for ep in range(2):
    for i, (x, y) in enumerate(dl):
        loss = torch.nn.functional.cross_entropy(net(x), y) / 4
        loss.backward()
        running += loss.item()
        if (i + 1) % 4 == 0:
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optim.step()
            sched.step()
            optim.zero_grad()
            own.step()
            print(f"{running:.3f}", flush=True)
            running = 0
own.show(epochs=2)
