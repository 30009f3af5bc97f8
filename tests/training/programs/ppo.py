# SPDX-License-Identifier: Apache-2.0
"""Proximal policy optimization in one file: poles of its own, rollouts, epochs of updates."""

import numpy as np
import timers as own
import torch
from small import mlp
from torch import nn
from torch.distributions import Categorical


class Poles:
    """Many poles on carts at once."""

    def __init__(self, many):
        self.state = np.zeros((many, 4), dtype=np.float32)

    def step(self, actions):
        x, v, angle, turn = self.state.T
        force = np.where(actions == 1, 10.0, -10.0)
        turning = (9.8 * np.sin(angle) - np.cos(angle) * force / 1.1) / 0.65
        self.state = np.stack(
            [x + 0.02 * v, v + 0.02 * force, angle + 0.02 * turn, turn + 0.02 * turning], 1
        ).astype(np.float32)
        done = (np.abs(self.state[:, 0]) > 2.4) | (np.abs(self.state[:, 2]) > 0.2)
        self.state[done] = 0
        return self.state, np.ones(len(done), np.float32), done


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic, self.actor = mlp(4, 1, 128, 2), mlp(4, 2, 128, 2)

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        chances = Categorical(logits=self.actor(x))
        if action is None:
            action = chances.sample()
        return action, chances.log_prob(action), chances.entropy(), self.critic(x)


torch.set_num_threads(1)
agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)
envs, length = Poles(64), 64
state = torch.from_numpy(envs.state)
for update in range(6):
    with own.row("evaluation"):
        seen = []
        for _ in range(length):
            with torch.no_grad():
                action, chance, _, value = agent.get_action_and_value(state)
            after, reward, done = envs.step(action.numpy())
            seen.append((state, action, chance, value.flatten(), torch.from_numpy(reward)))
            state = torch.from_numpy(after)
        with torch.no_grad():
            agent.get_value(state)
    states, actions, chances, values, rewards = (torch.cat(part) for part in zip(*seen))
    gains = rewards - values
    for _ in range(4):
        order = np.random.permutation(len(states))
        for begin in range(0, len(order), 1024):
            at = order[begin : begin + 1024]
            with own.row("forward"):
                _, chance, entropy, value = agent.get_action_and_value(states[at], actions[at])
            with own.row("loss"):
                ratio = (chance - chances[at]).exp()
                policy = -torch.min(ratio * gains[at], ratio.clamp(0.8, 1.2) * gains[at]).mean()
                with own.row("loss"):
                    loss = (
                        policy + 0.5 * ((value - rewards[at]) ** 2).mean() - 0.01 * entropy.mean()
                    )
            with own.row("zero_grad"):
                optimizer.zero_grad()
            with own.row("backward"):
                loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            with own.row("optimizer"):
                optimizer.step()
            own.step()
own.show(epochs=None, loose=["forward", "loss"])
