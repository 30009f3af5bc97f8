# SPDX-License-Identifier: Apache-2.0
"""PPO of stable-baselines3 on CartPole with four environments."""

import stable_baselines3
import timers as own
import torch
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm

torch.set_num_threads(1)
own.patch(OnPolicyAlgorithm, "collect_rollouts", "evaluation")
own.patch(stable_baselines3.common.vec_env.DummyVecEnv, "step_wait", "environment")
own.patch(torch.Tensor, "backward", "backward")
policy = stable_baselines3.common.policies.ActorCriticPolicy
own.patch(policy, "evaluate_actions", "forward")
model = stable_baselines3.PPO("MlpPolicy", make_vec_env("CartPole-v1", 4), n_steps=128, seed=0)
optimizer = model.policy.optimizer
step = own.timed("optimizer", optimizer.step)


def counted():
    own.step()
    step()


optimizer.step = counted
model.learn(2048)
own.show(epochs=None, loose=["forward", "evaluation", "environment"])
