# SPDX-License-Identifier: Apache-2.0
"""Diffusion policy on episodes of images: augmentations, AMP, a DataLoader with N workers.

python3 diffusion_policy.py FOLDER [WORKERS]    makes the episodes in FOLDER if they are not there
"""

import os
import sys

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

EPISODES, LENGTH, SIDE, CROP, ACTIONS, HORIZON = 4, 16, 96, 84, 7, 8
BATCH, EPOCHS, NOISE_STEPS = 8, 2, 50


def make_episodes(folder):
    random = np.random.default_rng(3)
    for episode in range(EPISODES):
        path = os.path.join(folder, f"episode_{episode}")
        os.makedirs(path, exist_ok=True)
        for t in range(LENGTH):
            image = os.path.join(path, f"{t}.jpg")
            if not os.path.exists(image):
                small = Image.fromarray(random.integers(0, 255, (12, 12, 3), "u1"))
                small.resize((SIDE, SIDE)).save(image, quality=90)
        np.save(
            os.path.join(path, "actions.npy"), random.normal(size=(LENGTH, ACTIONS)).astype("f4")
        )


class RandomCrop:
    def __call__(self, image):
        x, y = torch.randint(0, SIDE - CROP, (2,)).tolist()
        return image.crop((x, y, x + CROP, y + CROP))


class ColorJitter:
    def __call__(self, image):
        return image.point(lambda value: value * 0.9)


class ToTensor:
    def __call__(self, image):
        return torch.from_numpy(np.asarray(image).copy()).permute(2, 0, 1).float() / 255


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, value):
        for transform in self.transforms:
            value = transform(value)
        return value


class Episodes(Dataset):
    def __init__(self, folder, transform):
        self.folder, self.transform = folder, transform

    def __len__(self):
        return EPISODES * LENGTH

    def load_image(self, path, t):
        with Image.open(os.path.join(path, f"{t}.jpg")) as image:
            return image.convert("RGB")

    def load_actions(self, path, t):
        actions = np.load(os.path.join(path, "actions.npy"))
        return torch.from_numpy(actions[(t + np.arange(HORIZON)) % LENGTH])

    def __getitem__(self, index):
        path = os.path.join(self.folder, f"episode_{index // LENGTH}")
        t = index % LENGTH
        return self.transform(self.load_image(path, t)), self.load_actions(path, t)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, 16, 5, 4), nn.ReLU(), nn.Conv2d(16, 32, 5, 4), nn.ReLU(), nn.Flatten()
        )
        self.net = nn.Sequential(
            nn.Linear(32 * 16 + HORIZON * ACTIONS + 1, 256),
            nn.ReLU(),
            nn.Linear(256, HORIZON * ACTIONS),
        )

    def forward(self, image, noisy, step):
        features = [self.encoder(image), noisy.flatten(1), step.unsqueeze(1) / NOISE_STEPS]
        return self.net(torch.cat(features, 1)).view_as(noisy)


def make_loader(folder, workers, dataset=Episodes, transforms=(RandomCrop, ColorJitter, ToTensor)):
    transform = Compose([transform() for transform in transforms])
    return DataLoader(
        dataset(folder, transform), batch_size=BATCH, num_workers=workers, shuffle=True
    )


class Trainer:
    def __init__(self):
        self.model = Denoiser()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 100)
        self.scaler = torch.amp.GradScaler("cpu")
        self.kept = torch.linspace(1, 0, NOISE_STEPS)

    def loss(self, image, actions):
        step = torch.randint(0, NOISE_STEPS, (len(image),))
        kept, noise = self.kept[step].view(-1, 1, 1), torch.randn_like(actions)
        noisy = kept.sqrt() * actions + (1 - kept).sqrt() * noise
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return nn.functional.mse_loss(self.model(image, noisy, step.float()), noise)

    def backward(self, loss):
        self.scaler.scale(loss).backward()

    def update(self):
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()
        self.schedule.step()

    def step(self, image, actions):
        loss = self.loss(image, actions)
        self.backward(loss)
        self.update()
        return loss


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    make_episodes(sys.argv[1])
    loader = make_loader(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2)
    trainer = Trainer()
    for epoch in range(EPOCHS):
        for image, actions in loader:
            loss = trainer.step(image, actions)
        torch.save(trainer.model.state_dict(), os.path.join(sys.argv[1], "last.pt"))
        print(f"epoch {epoch} loss {loss:.4f}")


if __name__ == "__main__":
    main()
