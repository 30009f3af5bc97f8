# SPDX-License-Identifier: Apache-2.0
"""The training thread makes the batches."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    def __len__(self):
        return 1600

    def __getitem__(self, i):
        wave = np.random.default_rng(i).standard_normal(40000)
        spectrum = np.abs(np.fft.rfft(wave))[:1024]
        return torch.from_numpy(np.log1p(spectrum).astype("f4"))


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024))
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(Waves(), batch_size=16, shuffle=True)  # edit
    for _ in range(2):
        for x in loader:
            loss = (model(x) - x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
