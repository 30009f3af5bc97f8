# SPDX-License-Identifier: Apache-2.0
"""A large teacher answers for each batch without gradients, the student is small."""

import torch, watched as own
from sets import mlp
from torch.utils.data import DataLoader, TensorDataset

teacher, student = mlp(512, 2048, 2048, 100).eval(), mlp(512, 256, 100)
opt = torch.optim.Adam(student.parameters())
for epoch in range(2):
    for (x,) in DataLoader(TensorDataset(torch.randn(6400, 512)), 64, shuffle=True):
        with torch.no_grad(), own.row("forward"):
            t = teacher(x)
        s = student(x)
        loss = torch.nn.functional.kl_div(s.log_softmax(1), t.softmax(1), reduction="batchmean")
        opt.zero_grad()
        loss.backward()
        opt.step()
        own.step()
own.show(epochs=2)
