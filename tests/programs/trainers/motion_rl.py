# SPDX-License-Identifier: Apache-2.0
"""Reinforcement learning on motion data, no DataLoader; its code labels itself with
record_function.

python3 motion_rl.py FOLDER     makes the motions in FOLDER if they are not there
"""

import os
import sys

import numpy as np
import torch
from torch import nn
from torch.profiler import record_function

STATES, JOINTS, CLIPS, FRAMES = 64, 12, 16, 120
ITERATIONS, HORIZON, EPOCHS = 6, 8, 2


def make_motions(folder):
    path = os.path.join(folder, "motions.npy")
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(path):
        walk = np.random.default_rng(1).normal(size=(CLIPS, FRAMES, JOINTS)).cumsum(1)
        with open(path + ".part", "wb") as file:
            np.save(file, walk.astype("f4"))
        os.rename(path + ".part", path)
    return path


class Motions:
    def __init__(self, path):
        self.frames = np.load(path, mmap_mode="r")

    def sample(self, random):
        clips = random.integers(0, CLIPS, STATES)
        frames = random.integers(0, FRAMES - HORIZON, STATES)
        window = [self.frames[c, f : f + HORIZON] for c, f in zip(clips, frames)]
        return torch.from_numpy(np.stack(window))


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(2 * JOINTS, 128), nn.Tanh(), nn.Linear(128, JOINTS))
        self.critic = nn.Sequential(nn.Linear(2 * JOINTS, 128), nn.Tanh(), nn.Linear(128, 1))


class Trainer:
    label = staticmethod(record_function)

    def __init__(self, motions):
        self.motions, self.random = motions, np.random.default_rng(2)
        self.agent = Agent()
        self.optimizer = torch.optim.Adam(self.agent.parameters(), lr=3e-4)

    @torch.no_grad()
    def rollout(self, targets):
        state, memory = targets[:, 0].clone(), []
        for t in range(HORIZON):
            with self.label("policy"):
                seen = torch.cat([state, targets[:, t]], 1)
                action = self.agent.actor(seen)
            with self.label("physics"):
                state = state + 0.1 * torch.tanh(action)
                reward = -(state - targets[:, t]).square().mean(1)
            memory.append((seen, action, reward))
        return [torch.stack(column) for column in zip(*memory)]

    def advantages(self, seen, reward):
        with torch.no_grad():
            value = self.agent.critic(seen).squeeze(-1)
            returns = reward.flip(0).cumsum(0).flip(0)
        return returns, returns - value

    def update(self, seen, action, returns, advantage):
        with self.label("loss"):
            error = (self.agent.actor(seen) - action).square().mean(-1)
            value = self.agent.critic(seen).squeeze(-1)
            loss = (error * advantage).mean() + (value - returns).square().mean()
        with self.label("optimize"):
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss

    def iteration(self):
        with self.label("iteration"):
            with self.label("motion sampling"):
                targets = self.motions.sample(self.random)
            with self.label("rollout"):
                seen, action, reward = self.rollout(targets)
            with self.label("learning"):
                with self.label("advantages"):
                    returns, advantage = self.advantages(seen, reward)
                for _ in range(EPOCHS):
                    loss = self.update(seen, action, returns, advantage)
        return loss


def main(trainer=Trainer):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    trainer = trainer(Motions(make_motions(sys.argv[1])))
    for number in range(ITERATIONS):
        print(f"iteration {number} loss {trainer.iteration():.4f}")


if __name__ == "__main__":
    main()
