# SPDX-License-Identifier: Apache-2.0
"""A loop given to the TorchTrainer of ray, one worker; the truth comes from inside the worker."""

import json
import os

import ray
import ray.train
from ray.train import ScalingConfig
from ray.train.torch import TorchTrainer


def loop(config):
    import timers as own
    import torch
    from small import ConvNet, Images
    from torch.utils.data import DataLoader

    net = ray.train.torch.prepare_model(ConvNet())
    optimizer = torch.optim.Adam(net.parameters())
    loader = DataLoader(Images(30 * 16), batch_size=16)
    for epoch in own.epochs(2):
        for images, labels in own.batches(loader):
            with own.row("zero_grad"):
                optimizer.zero_grad()
            with own.row("forward"):
                out = net(images)
            with own.row("loss"):
                loss = torch.nn.functional.cross_entropy(out, labels)
            with own.row("backward"):
                loss.backward()
            with own.row("optimizer"):
                optimizer.step()
            own.step()
    with open(config["path"], "w") as file:
        json.dump(own.truth(), file)


path = os.path.abspath("truth.json")
env = {"env_vars": {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}}
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=env)
TorchTrainer(
    loop, train_loop_config={"path": path}, scaling_config=ScalingConfig(num_workers=1)
).fit()
ray.shutdown()
with open(path) as file:
    print(file.read())
