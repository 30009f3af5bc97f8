# SPDX-License-Identifier: Apache-2.0
"""Makes folders of pictures, and reads them as people do."""

import os

import numpy
import torch
from PIL import Image
from torch.utils.data import Dataset


def make(folder, count, size, name, **options):
    random = numpy.random.default_rng(1)
    for number in range(count):
        small = Image.fromarray(random.integers(0, 255, (24, 32, 3), "u1"))
        small.resize(size, Image.Resampling.BICUBIC).save(
            os.path.join(folder, f"{number}.{name}"), **options
        )


class Pictures(Dataset):
    def __init__(self, folder, times=1, side=64):
        self.paths, self.side = times * sorted(entry.path for entry in os.scandir(folder)), side

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        with Image.open(self.paths[index]) as image:
            image = image.resize((self.side, self.side), Image.Resampling.NEAREST)
        return torch.from_numpy(numpy.array(image)).permute(2, 0, 1).float() / 255, index % 2
