# SPDX-License-Identifier: Apache-2.0
"""A Learner of fastai with its own DataLoaders and one-cycle fit."""

import timers as own
import vision  # noqa: F401
import torch
from fastai.callback.core import Callback
from fastai.callback.schedule import Learner
from fastai.data.core import DataLoaders
from fastai.data.load import DataLoader
from fastai.losses import CrossEntropyLossFlat
from fastai.optimizer import Optimizer
from small import ConvNet, Images
from torch.utils.data import dataloader


class Net(ConvNet):
    def __call__(self, images):
        if not self.training:
            return super().__call__(images)
        with own.row("forward"):
            return super().__call__(images)


class Counter(Callback):
    def after_batch(self):
        if self.training:
            own.step()

    def before_fit(self):
        self.opt.step = own.timed("optimizer", self.opt.step)

    def before_train(self):
        own.count["epochs"] += 1


def items(count):
    data = Images(count)
    return [data[i] for i in range(count)]


own.patch(torch.Tensor, "backward", "backward")
own.patch(dataloader._BaseDataLoaderIter, "__next__", own.outside("loader_wait", "validation"))
own.patch(CrossEntropyLossFlat, "__call__", own.outside("loss", "validation"))
own.patch(Optimizer, "zero_grad", "zero_grad")
own.patch(Learner, "_do_epoch_validate", "validation")
loaders = DataLoaders(
    DataLoader(items(320), bs=16, shuffle=True), DataLoader(items(160), bs=16), device="cpu"
)
learner = Learner(loaders, Net(), loss_func=CrossEntropyLossFlat(), cbs=[Counter()])
with learner.no_bar(), learner.no_logging():
    learner.fit_one_cycle(2, 1e-3)
own.show(loose=["loader_wait"])
