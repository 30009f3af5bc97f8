# SPDX-License-Identifier: Apache-2.0
"""A metric over all predictions so far, made new by scikit-learn at each step."""

import numpy as np, torch, watched as own
from sets import mlp
from sklearn.metrics import roc_auc_score
from torch.utils.data import DataLoader, TensorDataset

net = mlp(128, 512, 1)
opt = torch.optim.Adam(net.parameters())
data = TensorDataset(torch.randn(12800, 128), torch.randint(0, 2, (12800,)).float())
told, true = [], []
for x, y in DataLoader(data, 32, shuffle=True):
    opt.zero_grad()
    out = net(x)[:, 0]
    torch.nn.functional.binary_cross_entropy_with_logits(out, y).backward()
    opt.step()
    with own.row("own_update"):
        told.append(out.detach().numpy())
        true.append(y.numpy())
        if own.count["steps"] > 3:
            roc_auc_score(np.concatenate(true), np.concatenate(told))
    own.step()
own.show(epochs=1)
