# SPDX-License-Identifier: Apache-2.0
"""REINFORCE on an environment written in Python, which takes most of the time."""

import math, random, torch, watched as own
from torch import nn


class Env:
    def reset(self):
        self.s = [random.uniform(-0.05, 0.05) for _ in range(4)]
        self.t = 0
        return self.s

    def step(self, a):
        x, v, th, w = self.s
        for _ in range(400):
            acc = (10 if a else -10) + 0.05 * w * w * math.sin(th)
            w += 0.00005 * (9.8 * math.sin(th) - math.cos(th) * acc)
            th += 0.00005 * w
            v += 0.00005 * acc
            x += 0.00005 * v
        self.s, self.t = [x, v, th, w], self.t + 1
        return self.s, 1.0, abs(th) > 0.2 or self.t >= 40


pi = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
opt = torch.optim.Adam(pi.parameters(), 1e-2)
env = Env()
for episode in range(120):
    s, done, logps, rews = env.reset(), False, [], []
    while not done:
        dist = torch.distributions.Categorical(logits=pi(torch.tensor(s)))
        a = dist.sample()
        logps.append(dist.log_prob(a))
        with own.row("own_environment"):
            s, r, done = env.step(a.item())
        rews.append(r)
    g, returns = 0, []
    for r in reversed(rews):
        g = r + 0.99 * g
        returns.insert(0, g)
    loss = -(torch.stack(logps) * torch.tensor(returns)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    own.step()
own.show(epochs=None, loose=["forward", "loss", "evaluation", "environment"])
