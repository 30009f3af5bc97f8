# SPDX-License-Identifier: Apache-2.0
"""Opacus: gradients of single samples are clipped, and noise is added, in the optimizer's step."""

import warnings

import timers as own
import torch
from opacus import PrivacyEngine
from small import mlp
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
torch.manual_seed(0)
net = mlp(256, 10, width=256)
loader = DataLoader(TensorDataset(torch.randn(1280, 256), torch.randint(0, 10, (1280,))), 32)
net, optimizer, loader = PrivacyEngine().make_private(
    module=net,
    optimizer=torch.optim.SGD(net.parameters(), lr=0.05),
    data_loader=loader,
    noise_multiplier=1.0,
    max_grad_norm=1.0,
)
for epoch in own.epochs(2):
    for x, y in own.batches(loader):
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("forward"):
            logits = net(x)
        with own.row("loss"):
            loss = F.cross_entropy(logits, y)
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
own.show()
