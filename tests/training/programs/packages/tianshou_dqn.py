# SPDX-License-Identifier: Apache-2.0
"""DQN of tianshou over four slow environments, each in a process."""

import time

import gymnasium
import numpy as np
import timers as own
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.env import BaseVectorEnv, SubprocVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net


class Slow(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (8,), np.float32)
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, seed=None, options=None):
        self.age = 0
        return np.zeros(8, np.float32), {}

    def step(self, action):
        time.sleep(0.02)
        self.age += 1
        return np.random.rand(8).astype(np.float32), 1.0, self.age > 40, False, {}


def main():
    torch.set_num_threads(1)
    environments = SubprocVectorEnv([Slow for _ in range(4)])
    policy = DiscreteQLearningPolicy(
        model=Net(state_shape=(8,), action_shape=3, hidden_sizes=[64]),
        action_space=Slow.action_space,
        eps_training=0.1,
    )
    learner = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), target_update_freq=50)
    collector = Collector[CollectStats](learner, environments, VectorReplayBuffer(5000, 4))
    collector.reset()
    own.patch(BaseVectorEnv, "step", "environment")
    collector.collect(n_step=80)
    own.patch(torch.Tensor, "backward", "backward")
    parameters = OffPolicyTrainerParams(
        training_collector=collector,
        test_collector=None,
        max_epochs=2,
        epoch_num_steps=400,
        collection_step_num_env_steps=20,
        update_step_num_gradient_steps_per_sample=0.25,
        batch_size=32,
    )
    learner.run_training(parameters)
    own.count.update(steps=2 * 100, epochs=None)
    own.show(why=["evaluation-bound"], loose=["forward", "optimizer", "evaluation", "loader_wait"])


if __name__ == "__main__":
    main()
