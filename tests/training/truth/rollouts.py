# SPDX-License-Identifier: Apache-2.0
"""A small trainer of agents: rollouts under no_grad through a method, then updates on them."""

import time

import own_timers as own
import torch


class Agent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.critic, self.actor = own.Net(3, 3), own.Net(1, 1)

    def value_and_action(self, rows):
        return self.critic(rows), self.actor(rows)


agent = Agent()
optimizer = own.adam(agent)
for _ in range(5):
    with own.timer("rollout"):
        rows = torch.zeros(4, 8)
        for _ in range(30):
            with torch.no_grad():
                agent.value_and_action(rows)
            time.sleep(0.002)  # the environment
    for _ in range(8):
        with own.timer("forward"):
            value, action = agent.value_and_action(rows)
        loss = value.mean() + action.mean()
        with own.timer("backward"):
            loss.backward()
        with own.timer("optimizer"):
            optimizer.step()
        optimizer.zero_grad()
own.show()
