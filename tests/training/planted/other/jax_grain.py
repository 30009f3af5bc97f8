# SPDX-License-Identifier: Apache-2.0
"""JAX, fed by Grain."""

import absl.flags
import grain
import jax_model
import samples


def train(folder, fault):
    def loader_of():
        return grain.DataLoader(
            data_source=samples.Samples(folder, fault),
            sampler=grain.samplers.IndexSampler(samples.COUNT, shuffle=False, num_epochs=1),
            operations=[grain.transforms.Batch(samples.BATCH)],
            worker_count=samples.workers(fault),
        )

    return jax_model.train(folder, fault, loader_of)


if __name__ == "__main__":
    absl.flags.FLAGS(["jax_grain"])  # Grain's worker processes ask for them
    samples.main(train)
