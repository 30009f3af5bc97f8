# SPDX-License-Identifier: Apache-2.0
"""A2C on environments that live in processes that pipes reach, stepped at once; no DataLoader."""

import multiprocessing
import time

import numpy as np
import timers as own
import torch
from small import mlp

MANY, ROUNDS, LENGTH = 4, 25, 8


def live(pipe, seed):
    generator = np.random.default_rng(seed)
    state = generator.standard_normal(16, dtype=np.float32)
    while pipe.recv() is not None:
        time.sleep(0.003)
        state = (0.9 * state + 0.1 * generator.standard_normal(16)).astype(np.float32)
        pipe.send((state, float(state[0])))


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    pipes = [context.Pipe() for _ in range(MANY)]
    lives = [context.Process(target=live, args=(p[1], n), daemon=True) for n, p in enumerate(pipes)]
    for process in lives:
        process.start()
    torch.set_num_threads(1)
    net = mlp(16, 5, 256)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    states = torch.zeros(MANY, 16)
    for number in range(ROUNDS):
        seen, rewards, actions = [], [], []
        for _ in range(LENGTH):
            with own.row("evaluation"), torch.no_grad():
                action = net(states)[:, :4].softmax(1).multinomial(1)[:, 0]
            with own.row("own_environment"):
                for pipe, _ in pipes:
                    pipe.send(0)
                told = [pipe.recv() for pipe, _ in pipes]
            seen.append(states), actions.append(action)
            states = torch.from_numpy(np.stack([state for state, _ in told]))
            rewards.append(torch.tensor([reward for _, reward in told]))
        with own.row("forward"):
            out = net(torch.cat(seen))
        with own.row("loss"):
            gains = torch.cat(rewards) - out[:, 4]
            picked = out[:, :4].log_softmax(1).gather(1, torch.cat(actions)[:, None])[:, 0]
            loss = (gains**2).mean() - (picked * gains.detach()).mean()
        with own.row("zero_grad"):
            optimizer.zero_grad()
        with own.row("backward"):
            loss.backward()
        with own.row("optimizer"):
            optimizer.step()
        own.step()
    own.show(epochs=None)
