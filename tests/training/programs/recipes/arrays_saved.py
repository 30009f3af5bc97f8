# SPDX-License-Identifier: Apache-2.0
"""Saves its weights by numpy and by pickle, not by torch.save, every tenth step."""

import pickle

import numpy as np
import timers as own
import torch
from small import Images, mlp, timed_step
from torch import nn
from torch.utils.data import DataLoader

net = nn.Sequential(nn.Flatten(), mlp(3 * 16 * 16, 10, 512, 2))
optimizer = torch.optim.Adam(net.parameters())
loader = DataLoader(Images(30 * 16, 16), batch_size=16, shuffle=True)
number = 0
for epoch in own.epochs(2):
    for images, labels in own.batches(loader):
        timed_step(net, optimizer, images, labels)
        number += 1
        if number % 10 == 0:
            with own.row("checkpoint"):
                arrays = {name: w.numpy() for name, w in net.state_dict().items()}
                for part in range(4):
                    np.savez(f"weights-{number}-{part}.npz", **arrays)
                with open(f"optimizer-{number}.pkl", "wb") as file:
                    pickle.dump(optimizer.state_dict(), file)
own.show()
