# SPDX-License-Identifier: Apache-2.0
"""Pictures decoded between the steps, because the loader has no workers."""

from torch.utils.data import DataLoader

import fit
import pictures


def make(folder):
    pictures.make(folder, 12, (640, 480), "jpg")


def train(folder):
    loader = DataLoader(pictures.Pictures(folder, 20), batch_size=4)
    fit.fit(fit.network(3 * 64 * 64, 128), loader)


if __name__ == "__main__":
    fit.main(make, train)
