# SPDX-License-Identifier: Apache-2.0
"""robots.py NAME: eight steps of lerobot's policy ACT, by the step of its own trainer, on random
observations. lerobot needs versions of packages that the other trainers do not take."""

import sys

import notes
import torch

STEPS, BATCH, CHUNK = 8, 4, 8
IMAGE, STATE = "observation.images.top", "observation.state"


def policy():
    from lerobot.configs.types import FeatureType, PolicyFeature
    from lerobot.policies.act.configuration_act import ACTConfig
    from lerobot.policies.act.modeling_act import ACTPolicy

    sizes = {"dim_model": 64, "n_heads": 4, "dim_feedforward": 64, "n_encoder_layers": 1}
    inputs = {
        STATE: PolicyFeature(FeatureType.STATE, (6,)),
        IMAGE: PolicyFeature(FeatureType.VISUAL, (3, 64, 64)),
    }
    return ACTPolicy(
        ACTConfig(
            chunk_size=CHUNK,
            n_action_steps=CHUNK,
            pretrained_backbone_weights=None,
            device="cuda",
            input_features=inputs,
            output_features={"action": PolicyFeature(FeatureType.ACTION, (6,))},
            **sizes,
        )
    )


class Episodes(torch.utils.data.Dataset):
    def __len__(self):
        return STEPS * BATCH

    def __getitem__(self, i):
        return {
            STATE: torch.randn(6),
            IMAGE: torch.rand(3, 64, 64),
            "action": torch.randn(CHUNK, 6),
            "action_is_pad": torch.zeros(CHUNK, dtype=torch.bool),
        }


def act():
    from accelerate import Accelerator
    from lerobot.scripts.lerobot_train import update_policy
    from lerobot.utils.logging_utils import AverageMeter, MetricsTracker

    accelerator, model = Accelerator(), policy()
    optimizer = torch.optim.AdamW(model.get_optim_params(), 1e-5)
    loader = torch.utils.data.DataLoader(Episodes(), BATCH, num_workers=1, pin_memory=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    meters = ["loss", "grad_norm", "lr", "update_s", "dataloading_s"]
    metrics = MetricsTracker(BATCH, BATCH, 1, {name: AverageMeter(name) for name in meters})
    for batch in loader:
        update_policy(metrics, model, batch, optimizer, 10.0, accelerator)


if __name__ == "__main__":
    notes.begin()
    globals()[sys.argv[1]]()
    torch.cuda.synchronize()
