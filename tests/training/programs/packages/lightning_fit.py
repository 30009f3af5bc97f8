# SPDX-License-Identifier: Apache-2.0
"""A LightningModule with training_step and validation_step, a checkpoint each epoch."""

import timers as own
import vision  # noqa: F401
import torch
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from small import Images, conv
from torch.utils.data import DataLoader, dataloader


class Body(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = conv()

    def forward(self, images):
        if not torch.is_grad_enabled():
            return self.layers(images)
        with own.row("forward"):
            return self.layers(images)


class Lit(LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Body()

    def forward(self, images):
        return self.net(images)

    def training_step(self, batch, number):
        loss = torch.nn.functional.cross_entropy(self(batch[0]), batch[1])
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, number):
        self.log("accuracy", (self(batch[0]).argmax(1) == batch[1]).float().mean())

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters())
        optimizer.step = own.timed("optimizer", optimizer.step)
        return optimizer


class Counter(Callback):
    def on_train_batch_end(self, *_args):
        own.step()

    def on_train_epoch_start(self, *_args):
        own.count["epochs"] += 1


own.patch(dataloader._BaseDataLoaderIter, "__next__", own.outside("loader_wait", "validation"))
own.patch(dataloader.DataLoader, "__iter__", own.outside("loader_wait", "validation"))
own.patch(torch.Tensor, "backward", "backward")
own.patch(ModelCheckpoint, "_save_checkpoint", "checkpoint")
from lightning.pytorch.loops import evaluation_loop  # noqa: E402

own.patch(evaluation_loop._EvaluationLoop, "run", "validation")
trainer = Trainer(
    max_epochs=3,
    accelerator="cpu",
    logger=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    num_sanity_val_steps=2,
    callbacks=[Counter(), ModelCheckpoint(dirpath="out", save_last=True)],
)
train, valid = (DataLoader(Images(n * 16), batch_size=16) for n in (20, 8))
trainer.fit(Lit(), train, valid)
own.show(loose=["optimizer"])
