# SPDX-License-Identifier: Apache-2.0
"""Soft actor-critic: two optimizers, target networks for one of them, a slow environment."""

import random
from collections import deque

import numpy as np
import timers as own
import torch
from small import mlp
from torch.nn import functional as F

random.seed(0)
generator = np.random.default_rng(0)
actor = mlp(8, 2, 128, 2)
critics = torch.nn.ModuleList(mlp(10, 1, 128, 2) for _ in range(2))
targets = torch.nn.ModuleList(mlp(10, 1, 128, 2) for _ in range(2))
targets.load_state_dict(critics.state_dict())
optimizer_actor = torch.optim.Adam(actor.parameters(), 3e-4)
optimizer_critic = torch.optim.Adam(critics.parameters(), 3e-4)
memory = deque(maxlen=2000)
state = generator.standard_normal(8).astype(np.float32)


def environment(state, action):
    for _ in range(250):
        state = state + 0.001 * np.tanh(state * action.mean())
    return state.astype(np.float32), float(-(state**2).sum())


def sample():
    parts = zip(*random.sample(memory, 64))
    return [torch.from_numpy(np.stack(part).astype(np.float32)) for part in parts]


def update(optimizer, loss):
    with own.row("zero_grad"):
        optimizer.zero_grad()
    with own.row("backward"):
        loss.backward()
    with own.row("optimizer"):
        optimizer.step()
    own.step()


for number in range(400):
    with own.row("evaluation"), torch.no_grad():
        action = torch.tanh(actor(torch.from_numpy(state)[None]))[0].numpy()
    with own.row("own_environment"):
        after, reward = environment(state, action)
    memory.append((state, action, reward, after))
    state = after
    if number < 100:
        continue
    with own.row("own_input"):
        states, actions, rewards, nexts = sample()
    with own.row("forward"), torch.no_grad():
        pairs = torch.cat([nexts, torch.tanh(actor(nexts))], 1)
        best = torch.min(targets[0](pairs), targets[1](pairs))
    with own.row("forward"):
        told = [critic(torch.cat([states, actions], 1)) for critic in critics]
    with own.row("loss"):
        loss = sum(F.mse_loss(one, rewards[:, None] + 0.99 * best) for one in told)
    update(optimizer_critic, loss)
    with own.row("forward"):
        told = critics[0](torch.cat([states, torch.tanh(actor(states))], 1))
    update(optimizer_actor, -told.mean())
    with own.row("own_update"), torch.no_grad():
        for mine, theirs in zip(targets.parameters(), critics.parameters()):
            mine.lerp_(theirs, 0.005)
own.show(epochs=None, loose=["evaluation"])
