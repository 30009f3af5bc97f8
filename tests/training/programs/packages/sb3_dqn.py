# SPDX-License-Identifier: Apache-2.0
"""DQN of stable-baselines3 on CartPole."""

import stable_baselines3
import timers as own
import torch
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm

torch.set_num_threads(1)
own.patch(OffPolicyAlgorithm, "collect_rollouts", "evaluation")
own.patch(stable_baselines3.common.vec_env.DummyVecEnv, "step_wait", "environment")
own.patch(ReplayBuffer, "sample", "own_input")
own.patch(torch.Tensor, "backward", "backward")
model = stable_baselines3.DQN(
    "MlpPolicy", "CartPole-v1", learning_starts=200, buffer_size=5000, seed=0, train_freq=2
)
optimizer = model.policy.optimizer
step = own.timed("optimizer", optimizer.step)


def counted():
    own.step()
    step()


optimizer.step = counted
model.learn(1500)
own.show(epochs=None, loose=["loader_wait", "forward", "evaluation", "environment"])
