# SPDX-License-Identifier: Apache-2.0
"""SAC of stable-baselines3 on Pendulum: three optimizers, two critics, a target critic."""

import stable_baselines3
import timers as own
import torch
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.sac.policies import Actor

torch.set_num_threads(1)
own.patch(OffPolicyAlgorithm, "collect_rollouts", "evaluation")
own.patch(stable_baselines3.common.vec_env.DummyVecEnv, "step_wait", "environment")
own.patch(ReplayBuffer, "sample", "own_input")
own.patch(torch.Tensor, "backward", "backward")
model = stable_baselines3.SAC(
    "MlpPolicy", "Pendulum-v1", learning_starts=100, buffer_size=5000, seed=0
)
own.patch(model.actor, "action_log_prob", own.outside("forward", "evaluation"))
for net in (model.critic, model.critic_target):
    own.patch(net, "forward", own.outside("forward", "evaluation"))
own.patch(model.actor.optimizer, "step", "optimizer")
own.patch(model.critic.optimizer, "step", "optimizer")
own.patch(model.ent_coef_optimizer, "step", "optimizer")
sample = ReplayBuffer.sample


def counted(*args, **names):
    own.step()
    return sample(*args, **names)


ReplayBuffer.sample = counted
model.learn(500)
own.show(epochs=None, loose=["loader_wait", "evaluation", "environment"])
