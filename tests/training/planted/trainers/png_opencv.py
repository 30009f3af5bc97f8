# SPDX-License-Identifier: Apache-2.0
"""Photographs kept as PNG, and read by OpenCV, whose wheels hide the library that decodes them."""

import cv2
import torch
from torch.utils.data import DataLoader

import fit
import pictures


class Photographs(pictures.Pictures):
    def __getitem__(self, index):
        image = cv2.resize(cv2.imread(self.paths[index]), (self.side, self.side))
        return torch.from_numpy(image).permute(2, 0, 1).float() / 255, index % 2


def make(folder):
    pictures.make(folder, 6, (1024, 768), "png")


def train(folder):
    cv2.setNumThreads(0)
    loader = DataLoader(Photographs(folder, 20), batch_size=4, num_workers=2)
    fit.fit(fit.network(3 * 64 * 64), loader)


if __name__ == "__main__":
    fit.main(make, train)
