# SPDX-License-Identifier: Apache-2.0
"""Policy gradients: the forwards of an episode carry gradients, one update at its end."""

import time

import numpy as np
import timers as own
import torch
from small import mlp
from torch.distributions import Categorical

torch.set_num_threads(1)
policy = mlp(8, 2, 256)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
generator = np.random.default_rng(0)


def play(state, action):
    time.sleep(0.0005)
    return (0.9 * state + 0.1 * generator.standard_normal(8)).astype(np.float32), float(action)


for episode in range(25):
    state, chances, rewards = generator.standard_normal(8).astype(np.float32), [], []
    for _ in range(40):
        seen = torch.from_numpy(state)[None]
        with own.row("forward"):
            logits = policy(seen)
        with own.row("loss"):
            chance = Categorical(logits=logits)
            action = chance.sample()
            chances.append(chance.log_prob(action))
        with own.row("own_environment"):
            state, reward = play(state, action.item())
        rewards.append(reward)
    gains = torch.tensor(np.cumsum(rewards[::-1])[::-1].copy())
    with own.row("loss"):
        loss = -(torch.cat(chances) * (gains - gains.mean())).sum()
    with own.row("zero_grad"):
        optimizer.zero_grad()
    with own.row("backward"):
        loss.backward()
    with own.row("optimizer"):
        optimizer.step()
    own.step()
own.show(epochs=None, loose=["loss"])
