# SPDX-License-Identifier: Apache-2.0
"""Engines of ignite for training and evaluation, a checkpoint handler."""

import timers as own
import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import Checkpoint, DiskSaver
from ignite.metrics import Accuracy
from small import ConvNet, Images
from torch.utils.data import DataLoader, dataloader


class Net(ConvNet):
    def __call__(self, images):
        if not torch.is_grad_enabled():
            return super().__call__(images)
        with own.row("forward"):
            return super().__call__(images)


own.patch(dataloader._BaseDataLoaderIter, "__next__", own.outside("loader_wait", "validation"))
own.patch(dataloader.DataLoader, "__iter__", own.outside("loader_wait", "validation"))
own.patch(torch.Tensor, "backward", "backward")
own.patch(DiskSaver, "__call__", "checkpoint")
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
optimizer.step = own.timed("optimizer", optimizer.step)
loss_of = torch.nn.CrossEntropyLoss()
trainer = create_supervised_trainer(net, optimizer, loss_of)
evaluator = create_supervised_evaluator(net, {"accuracy": Accuracy()})
train, valid = (DataLoader(Images(n * 16), batch_size=16) for n in (20, 10))


@trainer.on(Events.ITERATION_COMPLETED)
def count(engine):
    own.step()


@trainer.on(Events.EPOCH_COMPLETED)
def evaluate(engine):
    own.count["epochs"] += 1
    with own.row("validation"):
        evaluator.run(valid)


saver = Checkpoint({"model": net, "optimizer": optimizer}, DiskSaver("out", create_dir=True))
trainer.add_event_handler(Events.EPOCH_COMPLETED, saver)
trainer.run(train, max_epochs=3)
own.show()
