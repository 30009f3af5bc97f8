# SPDX-License-Identifier: Apache-2.0
"""gpu_trainer.py LIBRARY STEPS: trains on the CPU and gives the fake device work in each part of a
step."""

import ctypes
import sys

import torch
from torch.utils.data import DataLoader, TensorDataset

FORWARD, BACKWARD, OPTIMIZER, COLLECTIVE = range(4)
gpu = ctypes.CDLL(sys.argv[1])
gpu.gpu_launch.argtypes = [ctypes.c_int, ctypes.c_uint64]
gpu.gpu_copy_in.argtypes = [ctypes.c_size_t]


class Layer(torch.nn.Linear):
    def forward(self, rows):
        gpu.gpu_launch(FORWARD, 2000000)
        gpu.gpu_launch(FORWARD, 1000000)
        return super().forward(rows)


class Optimizer(torch.optim.SGD):
    def step(self, closure=None):
        gpu.gpu_launch(OPTIMIZER, 500000)
        return super().step(closure)


def on_gradient(gradient):
    gpu.gpu_launch(BACKWARD, 3000000)
    gpu.gpu_launch(COLLECTIVE, 700000)
    return gradient


steps = int(sys.argv[2])
model = Layer(16, 2)
optimizer = Optimizer(model.parameters(), lr=0.1)
data = TensorDataset(torch.randn(4 * steps, 16), torch.zeros(4 * steps, dtype=torch.long))
for rows, labels in DataLoader(data, batch_size=4):
    gpu.gpu_copy_in(1 << 20)
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(rows), labels)
    loss.register_hook(on_gradient)
    loss.backward()
    optimizer.step()
    gpu.gpu_wait()
