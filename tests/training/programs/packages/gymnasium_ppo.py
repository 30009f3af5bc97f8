# SPDX-License-Identifier: Apache-2.0
"""PPO in one file on environments of gymnasium."""

import gymnasium
import numpy as np
import timers as own
import torch
from small import mlp
from torch.distributions import Categorical

torch.set_num_threads(1)
envs = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * 8)


class Agent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.critic, self.actor = mlp(4, 1, 64, 2), mlp(4, 2, 64, 2)

    def act(self, x, action=None):
        chances = Categorical(logits=self.actor(x))
        action = chances.sample() if action is None else action
        return action, chances.log_prob(action), chances.entropy(), self.critic(x)


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4)
state = torch.from_numpy(envs.reset(seed=0)[0])
for update in range(8):
    seen = []
    for _ in range(64):
        with own.row("evaluation"), torch.no_grad():
            action, chance, _, value = agent.act(state)
        with own.row("environment"):
            after, reward, done, cut, info = envs.step(action.numpy())
        seen.append((state, action, chance, value.flatten(), torch.from_numpy(reward).float()))
        state = torch.from_numpy(after)
    states, actions, chances, values, rewards = (torch.cat(part) for part in zip(*seen))
    for _ in range(4):
        order = np.random.permutation(len(states))
        for begin in range(0, len(order), 128):
            at = order[begin : begin + 128]
            with own.row("forward"):
                _, chance, entropy, value = agent.act(states[at], actions[at])
            with own.row("loss"):
                ratio = (chance - chances[at]).exp()
                gain = rewards[at] - values[at]
                loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
                loss = loss + 0.5 * ((value[:, 0] - rewards[at]) ** 2).mean()
            with own.row("zero_grad"):
                optimizer.zero_grad()
            with own.row("backward"):
                loss.backward()
            torch.nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            with own.row("optimizer"):
                optimizer.step()
            own.step()
own.show(epochs=None, loose=["forward", "loss", "evaluation"])
