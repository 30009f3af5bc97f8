# SPDX-License-Identifier: Apache-2.0
"""diffusion_policy.py with timers written into it.

python3 diffusion_policy_twin.py FOLDER TIMERS.json WORKERS
"""

import os
import sys

import torch

import diffusion_policy as plain
from timers import Timers

timers = Timers(
    "__getitem__|load image|load actions|crop|jitter|tensor|loader wait|forward|backward|unscale|clip"
    "|scaler step|scaler update|zero_grad|schedule|save".split("|")
)


class TimedEpisodes(plain.Episodes):
    def load_image(self, path, t):
        with timers("load image"):
            return super().load_image(path, t)

    def load_actions(self, path, t):
        with timers("load actions"):
            return super().load_actions(path, t)

    def __getitem__(self, index):
        with timers("__getitem__"):
            return super().__getitem__(index)


def timed(cls, name):
    def call(self, image):
        with timers(name):
            return cls.__call__(self, image)

    return type("Timed" + cls.__name__, (cls,), {"__call__": call})


TRANSFORMS = (
    timed(plain.RandomCrop, "crop"),
    timed(plain.ColorJitter, "jitter"),
    timed(plain.ToTensor, "tensor"),
)


class TimedTrainer(plain.Trainer):
    def backward(self, loss):
        scaled = self.scaler.scale(loss)
        with timers("backward"):
            scaled.backward()

    def update(self):
        with timers("unscale"):
            self.scaler.unscale_(self.optimizer)
        with timers("clip"):
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        with timers("scaler step"):
            self.scaler.step(self.optimizer)
        with timers("scaler update"):
            self.scaler.update()
        with timers("zero_grad"):
            self.optimizer.zero_grad()
        with timers("schedule"):
            self.schedule.step()


def epoch(loader, trainer):
    for batch in timers.batches(loader, "loader wait"):
        with timers("forward"):
            loss = trainer.loss(*batch)
        trainer.backward(loss)
        trainer.update()


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    plain.make_episodes(sys.argv[1])
    loader = plain.make_loader(sys.argv[1], int(sys.argv[3]), TimedEpisodes, TRANSFORMS)
    trainer = TimedTrainer()
    for _ in range(plain.EPOCHS):
        epoch(loader, trainer)
        state = trainer.model.state_dict()
        with timers("save"):
            torch.save(state, os.path.join(sys.argv[1], "last.pt"))
    timers.write(sys.argv[2])


if __name__ == "__main__":
    main()
