# SPDX-License-Identifier: Apache-2.0
"""Photographs kept as PNG."""

from torch.utils.data import DataLoader

import fit
import pictures


def make(folder):
    pictures.make(folder, 6, (1024, 768), "png")


def train(folder):
    loader = DataLoader(pictures.Pictures(folder, 20), batch_size=4, num_workers=2)
    fit.fit(fit.network(3 * 64 * 64), loader)


if __name__ == "__main__":
    fit.main(make, train)
