# SPDX-License-Identifier: Apache-2.0
"""A small video restoration network: encoder, temporal attention, fusion, eight stages.

python3 video_restore.py
"""

import torch
from torch import nn

BATCH, FRAMES, CHANNELS, SIDE, STAGES, ITERATIONS = 1, 3, 16, 32, 8, 4


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, CHANNELS, 3, padding=1)
        self.second = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)

    def forward(self, frames):
        return self.second(torch.relu(self.first(frames)))


class TemporalAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)

    def forward(self, features):
        embedded = self.embed(features.flatten(0, 1)).view_as(features)
        middle = embedded[:, FRAMES // 2 : FRAMES // 2 + 1]
        return features * torch.sigmoid((embedded * middle).sum(2, keepdim=True))


class Fusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Conv2d(FRAMES * CHANNELS, CHANNELS, 1)

    def forward(self, features):
        return self.mix(features.flatten(1, 2))


class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1),
        )

    def forward(self, features):
        return features + self.body(features)


class Restorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.attention = TemporalAttention()
        self.fusion = Fusion()
        self.stages = nn.ModuleList(Stage() for _ in range(STAGES))
        self.last = nn.Conv2d(CHANNELS, 3, 3, padding=1)

    def forward(self, frames):
        features = self.encoder(frames.flatten(0, 1)).view(
            len(frames), FRAMES, CHANNELS, SIDE, SIDE
        )
        features = self.fusion(self.attention(features))
        for stage in self.stages:
            features = stage(features)
        return frames[:, FRAMES // 2] + self.last(features)


def main(restorer=Restorer):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = restorer()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for number in range(ITERATIONS):
        sharp = torch.rand(BATCH, FRAMES, 3, SIDE, SIDE)
        restored = model(sharp + 0.1 * torch.randn_like(sharp))
        loss = nn.functional.l1_loss(restored, sharp[:, FRAMES // 2])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"iteration {number} loss {loss:.4f}")


if __name__ == "__main__":
    main()
