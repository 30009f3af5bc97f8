# SPDX-License-Identifier: Apache-2.0
"""A pickle for each sample, two workers, a convolution that takes longer than they do."""

import pickle, torch, watched as own
from sets import noise, path
from torch import nn
from torch.utils.data import DataLoader, Dataset

for n in range(200):
    with open(path("p", f"{n}.pkl"), "wb") as f:
        pickle.dump({"image": noise(3, 64, 64, seed=n), "label": n % 10}, f)


class Pickles(Dataset):
    def __len__(self):
        return 600

    def __getitem__(self, i):
        with open(path("p", f"{i % 200}.pkl"), "rb") as f:
            d = pickle.load(f)
        return torch.from_numpy(d["image"]), d["label"]


net = nn.Sequential(
    nn.Conv2d(3, 48, 3, padding=1),
    nn.ReLU(),
    nn.Conv2d(48, 48, 3, padding=1),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(48, 10),
)
opt = torch.optim.AdamW(net.parameters())
dl = DataLoader(Pickles(), 16, shuffle=True, num_workers=2, drop_last=True)
for ep in range(1):
    for a, b in dl:
        loss = nn.functional.cross_entropy(net(a), b)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        own.step()
own.show(epochs=1)
