# SPDX-License-Identifier: Apache-2.0
"""Deep Q-learning: one action a step, a replay memory, a target network without gradients."""

import random
from collections import deque

import numpy as np
import timers as own
import torch
from small import mlp
from torch.nn import functional as F

torch.set_num_threads(1)
random.seed(0)
generator = np.random.default_rng(0)
q, target = mlp(32, 4, 384), mlp(32, 4, 384)
target.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters(), lr=1e-4)
memory = deque(maxlen=5000)
state = generator.standard_normal(32, dtype=np.float32)
for number in range(700):
    if random.random() < 0.2:
        action = random.randrange(4)
    else:
        with own.row("evaluation"), torch.no_grad():
            action = int(q(torch.from_numpy(state)[None]).argmax())
    with own.row("own_environment"):
        after = (0.9 * state + 0.1 * generator.standard_normal(32)).astype(np.float32)
    memory.append((state, action, float(after[action]), after))
    state = after
    if number < 200 or number % 4:
        continue
    with own.row("own_input"):
        picked = random.sample(memory, 128)
        parts = [torch.from_numpy(np.stack(part)) for part in zip(*picked)]
        states, actions, rewards, nexts = parts
    with own.row("forward"), torch.no_grad():
        best = target(nexts).max(1).values
    wanted = rewards.float() + 0.99 * best
    with own.row("forward"):
        told = q(states)
    with own.row("loss"):
        loss = F.smooth_l1_loss(told.gather(1, actions[:, None])[:, 0], wanted)
    with own.row("zero_grad"):
        optimizer.zero_grad()
    with own.row("backward"):
        loss.backward()
    with own.row("optimizer"):
        optimizer.step()
    own.step()
    if number % 100 == 0:
        target.load_state_dict(q.state_dict())
own.show(epochs=None)
