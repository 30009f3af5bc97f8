# SPDX-License-Identifier: Apache-2.0
"""Images are rotated at full size, and cropped after that."""

import io
import random

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset


class RandomRotate:
    def __call__(self, image):
        return image.rotate(random.uniform(-30, 30), resample=Image.BICUBIC)  # edit


class Pictures(Dataset):
    def __init__(self, files):
        self.files, self.rotate = files, RandomRotate()

    def __len__(self):
        return len(self.files) * 8

    def __getitem__(self, i):
        image = Image.open(io.BytesIO(self.files[i % len(self.files)])).convert("RGB")
        image = self.rotate(image).crop((200, 120, 264, 184))
        return torch.from_numpy(np.array(image)).permute(2, 0, 1) / 255.0


def make_files():
    files = []
    for seed in range(24):
        pixels = np.random.default_rng(seed).integers(0, 255, (60, 80, 3), dtype=np.uint8)
        image = Image.fromarray(pixels).resize((640, 480))
        at = io.BytesIO()
        image.save(at, "JPEG")
        files.append(at.getvalue())
    return files


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                                nn.Flatten(), nn.Linear(16, 10))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    loader = DataLoader(Pictures(make_files()), batch_size=16, shuffle=True,
                                         num_workers=1)
    for _ in range(3):
        for x in loader:
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
