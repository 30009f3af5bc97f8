# SPDX-License-Identifier: Apache-2.0
"""Saves many small weights by torch.distributed.checkpoint, and loads them again."""

import warnings

import torch.distributed.checkpoint as dcp
from small import train_and_save
from torch import nn

warnings.simplefilter("ignore")  # there is no process group

layers = [layer for _ in range(60) for layer in (nn.Linear(32, 32), nn.ReLU())]
net = nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, 32), *layers, nn.Linear(32, 10))


def save(number, _optimizer):
    dcp.save(net.state_dict(), checkpoint_id=f"step-{number}")
    dcp.load(net.state_dict(), checkpoint_id=f"step-{number}")


train_and_save(net, save)
