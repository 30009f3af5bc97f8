# SPDX-License-Identifier: Apache-2.0
"""A NeuralNetClassifier of skorch, fit as scikit-learn's estimators are."""

import numpy as np
import skorch
import timers as own
import torch
from small import mlp
from torch.utils.data import dataloader

torch.set_num_threads(1)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = mlp(64, 4)

    def forward(self, x):
        return self.body(x)

    def __call__(self, x):
        if not torch.is_grad_enabled():
            return super().__call__(x)
        with own.row("forward"):
            return super().__call__(x)


own.patch(dataloader._BaseDataLoaderIter, "__next__", own.outside("loader_wait", "validation"))
own.patch(dataloader.DataLoader, "__iter__", own.outside("loader_wait", "validation"))
own.patch(torch.Tensor, "backward", "backward")
own.patch(torch.optim.SGD, "step", "optimizer")
own.patch(skorch.NeuralNet, "validation_step", "validation")
own.patch(skorch.NeuralNetClassifier, "get_loss", own.outside("loss", "validation"))
step = skorch.NeuralNet.train_step


def train_step(*args, **names):
    own.step()
    return step(*args, **names)


skorch.NeuralNet.train_step = train_step
x = np.random.default_rng(0).standard_normal((3200, 64)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int64) + 2 * (x[:, 1] > 0)
model = skorch.NeuralNetClassifier(
    Net, criterion=torch.nn.CrossEntropyLoss, max_epochs=3, batch_size=64, verbose=0
)
model.fit(x, y)
own.show(epochs=3, loose=["optimizer", "validation", "loader_wait"])
