# SPDX-License-Identifier: Apache-2.0
"""JPEG files with rotations and colour changes of Pillow, two workers, a small network."""

import random, numpy as np, torch, watched as own
from PIL import Image, ImageEnhance
from sets import jpeg, path
from torch import nn
from torch.utils.data import DataLoader, Dataset

for n in range(30):
    with open(path("j", f"{n}.jpg"), "wb") as f:
        f.write(jpeg(320, n))


class Pictures(Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, i):
        im = Image.open(path("j", f"{i % 30}.jpg")).convert("RGB")
        im = im.rotate(random.uniform(-20, 20), Image.BICUBIC)
        im = ImageEnhance.Color(im).enhance(random.uniform(0.5, 1.5))
        im = im.resize((64, 64), Image.LANCZOS)
        return torch.from_numpy(np.asarray(im).copy()).permute(2, 0, 1) / 255.0, i % 10


net = nn.Sequential(
    nn.Conv2d(3, 16, 3, 2),
    nn.ReLU(),
    nn.Conv2d(16, 32, 3, 2),
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(32 * 15 * 15, 10),
)
opt = torch.optim.SGD(net.parameters(), 0.01)
loader = DataLoader(Pictures(), 16, shuffle=True, num_workers=2, persistent_workers=True)
for epoch in range(3):
    for x, y in loader:
        out = net(x)
        loss = nn.functional.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        own.step()
own.show(epochs=3)
