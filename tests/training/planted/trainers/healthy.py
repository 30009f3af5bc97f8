# SPDX-License-Identifier: Apache-2.0
"""Nothing wrong: the model takes the time."""

from torch.utils.data import DataLoader

import fit
import pictures


def make(folder):
    pictures.make(folder, 12, (160, 120), "jpg")


def train(folder):
    loader = DataLoader(
        pictures.Pictures(folder, 10), batch_size=8, num_workers=1, persistent_workers=True
    )
    fit.fit(fit.network(3 * 64 * 64, 1024, 8), loader, epochs=3)


if __name__ == "__main__":
    fit.main(make, train)
