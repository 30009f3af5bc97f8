# SPDX-License-Identifier: Apache-2.0
"""JAX, fed by PyTorch's DataLoader."""

import numpy as np
import samples
from torch.utils.data import DataLoader


def train(folder, fault):
    import jax_model  # workers that are spawned need no JAX

    count = samples.workers(fault)

    def loader_of():
        return DataLoader(
            samples.Samples(folder, fault),
            batch_size=samples.BATCH,
            collate_fn=np.stack,
            num_workers=count,
            multiprocessing_context="spawn" if count else None,
        )

    return jax_model.train(folder, fault, loader_of)


if __name__ == "__main__":
    samples.main(train)
