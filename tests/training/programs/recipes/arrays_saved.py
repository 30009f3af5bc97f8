# SPDX-License-Identifier: Apache-2.0
"""Saves its weights by numpy and by pickle, not by torch.save, every tenth step."""

import pickle

import numpy as np
from small import mlp, train_and_save
from torch import nn

net = nn.Sequential(nn.Flatten(), mlp(3 * 16 * 16, 10, 512, 2))


def save(number, optimizer):
    arrays = {name: w.numpy() for name, w in net.state_dict().items()}
    for part in range(4):
        np.savez(f"weights-{number}-{part}.npz", **arrays)
    with open(f"optimizer-{number}.pkl", "wb") as file:
        pickle.dump(optimizer.state_dict(), file)


train_and_save(net, save)
