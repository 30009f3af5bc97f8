# SPDX-License-Identifier: Apache-2.0
"""A learner of values whose environments have the modules and classes of libraries without tests of
their own: gymnasium 0.26 to 0.29, gym, and others. The libraries lie in a folder of this run."""

import importlib
import os
import sys
import tempfile

import timers as own
import torch
from small import mlp

NAMES = [
    ("gym.wrappers.time_limit", "TimeLimit"),
    ("gym.vector.vector_env", "VectorEnv"),
    ("gymnasium.wrappers.order_enforcing", "OrderEnforcing"),
    ("gymnasium.wrappers.record_episode_statistics", "RecordEpisodeStatistics"),
    ("gymnasium.vector.vector_env", "VectorEnv"),
    ("envpool.python.envpool", "EnvPoolMixin"),
    ("pettingzoo.utils.wrappers.base", "BaseWrapper"),
    ("dm_control.rl.control", "Environment"),
    ("baselines.common.vec_env.vec_env", "VecEnv"),
]
TEXT = """
import time


class {name}:
    def step(self, action):
        return self.step_wait(action)


class Own({name}):
    def step_wait(self, action):
        end = time.perf_counter() + 0.001
        while time.perf_counter() < end:
            pass
        return [0.1] * 4, 1.0
"""


def made(module, name, folder):
    path = os.path.join(folder, *module.split(".")) + ".py"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(TEXT.format(name=name))
    return importlib.import_module(module).Own()


with tempfile.TemporaryDirectory() as folder:
    sys.path.insert(0, folder)
    environments = [made(module, name, folder) for module, name in NAMES]
    sys.path.remove(folder)
values = mlp(4, 2, 128, 2)
optimizer = torch.optim.Adam(values.parameters())
for _ in range(60):
    with own.row("evaluation"), torch.no_grad():
        values(torch.zeros(2, 4))
    with own.row("environment"):
        for environment in environments:
            state, reward = environment.step(0)
    with own.row("forward"):
        loss = (values(torch.tensor([state] * 64))[:, 0] - reward).pow(2).mean()
    with own.row("zero_grad"):
        optimizer.zero_grad()
    with own.row("backward"):
        loss.backward()
    with own.row("optimizer"):
        optimizer.step()
    own.step()
loose = ["forward", "loss", "evaluation"]
own.show(epochs=None, loose=loose, advises="in processes only where")
