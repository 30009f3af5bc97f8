# SPDX-License-Identifier: Apache-2.0
"""Imitation learning on HDF5 episodes: four cameras of JPEG frames, chunks of actions, validation.

python3 act_hdf5.py FOLDER      makes the episodes in FOLDER if they are not there
"""

import os
import sys

import cv2
import h5py
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CAMERAS = ("high", "low", "left_wrist", "right_wrist")
EPISODES, LENGTH, JOINTS, CHUNK = 8, 20, 14, 8
HEIGHT, WIDTH = 96, 128
BATCH, EPOCHS, WORKERS = 4, 2, 2


def make_episodes(folder):
    random = np.random.default_rng(1)
    os.makedirs(folder, exist_ok=True)
    for number in range(EPISODES):
        path = os.path.join(folder, f"episode_{number}.hdf5")
        if os.path.exists(path):
            continue
        with h5py.File(path + ".part", "w") as root:
            root["/observations/qpos"] = random.normal(size=(LENGTH, JOINTS)).astype("f4")
            root["/action"] = random.normal(size=(LENGTH, JOINTS)).astype("f4")
            for camera in CAMERAS:
                frames = np.zeros((LENGTH, 20000), "u1")
                for t in range(LENGTH):
                    small = random.integers(0, 255, (HEIGHT // 8, WIDTH // 8, 3), "u1")
                    jpeg = cv2.imencode(".jpg", cv2.resize(small, (WIDTH, HEIGHT)))[1]
                    frames[t, : len(jpeg)] = jpeg
                root[f"/observations/images/{camera}"] = frames
        os.rename(path + ".part", path)


class Episodes(Dataset):
    def __init__(self, folder, numbers):
        self.folder, self.numbers, self.files = folder, numbers, {}
        self.mean, self.std = np.zeros(JOINTS, "f4"), np.ones(JOINTS, "f4")

    def __len__(self):
        return 2 * len(self.numbers)

    def open_episode(self, number):
        if number not in self.files:
            self.files[number] = h5py.File(os.path.join(self.folder, f"episode_{number}.hdf5"), "r")
        return self.files[number]

    def read_qpos(self, root, start):
        return root["/observations/qpos"][start]

    def read_camera(self, root, camera, start):
        return decode(root[f"/observations/images/{camera}"][start])

    def read_cameras(self, root, start):
        return np.stack([self.read_camera(root, camera, start) for camera in CAMERAS])

    def read_actions(self, root, start):
        actions = root["/action"][start : start + CHUNK]
        padded = np.zeros((CHUNK, JOINTS), "f4")
        padded[: len(actions)] = actions
        return padded, len(actions)

    def to_tensors(self, images, qpos, actions, length):
        image = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
        qpos = torch.from_numpy((qpos - self.mean) / self.std)
        actions = torch.from_numpy((actions - self.mean) / self.std)
        return image, qpos, actions, torch.arange(CHUNK) >= length

    def __getitem__(self, index):
        root = self.open_episode(self.numbers[index // 2])
        start = index * 7 % LENGTH
        qpos = self.read_qpos(root, start)
        images = self.read_cameras(root, start)
        actions, length = self.read_actions(root, start)
        return self.to_tensors(images, qpos, actions, length)


def decode(jpeg):
    return cv2.imdecode(jpeg, cv2.IMREAD_COLOR)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 16, 7, 4),
            nn.ReLU(),
            nn.Conv2d(16, 32, 5, 4),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(2),
        )
        self.head = nn.Sequential(
            nn.Linear(4 * 128 + JOINTS, 256), nn.ReLU(), nn.Linear(256, CHUNK * JOINTS)
        )

    def forward(self, images, qpos):
        features = self.backbone(images.flatten(0, 1)).view(len(images), -1)
        return self.head(torch.cat([features, qpos], 1)).view(-1, CHUNK, JOINTS)


def forward_pass(batch, policy):
    images, qpos, actions, padded = batch
    error = torch.nn.functional.l1_loss(policy(images, qpos), actions, reduction="none")
    return (error * ~padded.unsqueeze(-1)).mean()


def loaders(folder, dataset=Episodes):
    training, validation = range(EPISODES - 2), range(EPISODES - 2, EPISODES)
    return [
        DataLoader(dataset(folder, numbers), batch_size=BATCH, num_workers=WORKERS, shuffle=True)
        for numbers in (training, validation)
    ]


def validate(policy, loader):
    policy.eval()
    with torch.inference_mode():
        losses = [forward_pass(batch, policy) for batch in loader]
    return torch.stack(losses).mean()


def train(policy, loader, optimizer):
    policy.train()
    for batch in loader:
        loss = forward_pass(batch, policy)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    make_episodes(sys.argv[1])
    training, validation = loaders(sys.argv[1])
    policy = Policy()
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
    for epoch in range(EPOCHS):
        loss = validate(policy, validation)
        train(policy, training, optimizer)
        print(f"epoch {epoch} validation loss {loss:.4f}")


if __name__ == "__main__":
    main()
