# SPDX-License-Identifier: Apache-2.0
"""JAX, fed by Grain."""

import absl.flags
import grain
import samples


def train(folder, fault):
    import jax_model  # workers that are spawned need no JAX

    def loader_of():
        return grain.DataLoader(
            data_source=samples.Samples(folder, fault),
            sampler=grain.samplers.IndexSampler(samples.count(fault), shuffle=False, num_epochs=1),
            operations=[grain.transforms.Batch(samples.BATCH)],
            worker_count=samples.workers(fault),
            read_options=grain.ReadOptions(num_threads=1, prefetch_buffer_size=2),
        )

    return jax_model.train(folder, fault, loader_of)


if __name__ == "__main__":
    absl.flags.FLAGS(["jax_grain"])  # Grain's worker processes ask for them
    samples.main(train)
