# SPDX-License-Identifier: Apache-2.0
"""Photographs of 7 megapixels for a model that looks at 64 by 64."""

from torch.utils.data import DataLoader

import fit
import pictures


def make(folder):
    pictures.make(folder, 6, (3072, 2304), "jpg", quality=90)


def train(folder):
    loader = DataLoader(pictures.Pictures(folder, 8), batch_size=4, num_workers=2)
    fit.fit(fit.network(3 * 64 * 64), loader)


if __name__ == "__main__":
    fit.main(make, train)
