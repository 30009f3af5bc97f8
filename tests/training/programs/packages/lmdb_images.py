# SPDX-License-Identifier: Apache-2.0
"""Pictures in an LMDB that workers open by themselves."""

import io
import pickle

import lmdb
import numpy as np
import timers as own
import torch
from PIL import Image
from small import ConvNet, timed_step
from torch.utils.data import DataLoader, Dataset

with lmdb.open("images", map_size=1 << 28) as env, env.begin(write=True) as put:
    for number in range(320):
        generator = np.random.default_rng(number)
        picture = io.BytesIO()
        rows = generator.integers(0, 255, (64, 64, 3), dtype=np.uint8)
        Image.fromarray(rows).save(picture, "PNG")
        put.put(str(number).encode(), pickle.dumps((picture.getvalue(), number % 10)))


class Pictures(Dataset):
    env = None

    def __len__(self):
        return 320

    def __getitem__(self, index):
        self.env = self.env or lmdb.open("images", readonly=True, lock=False)
        with self.env.begin() as get:
            data, label = pickle.loads(get.get(str(index).encode()))
        rows = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), np.float32) / 255
        return torch.from_numpy(rows).permute(2, 0, 1), label


net = ConvNet(width=8)
optimizer = torch.optim.Adam(net.parameters())
loader = DataLoader(Pictures(), batch_size=16, shuffle=True, num_workers=1)
for epoch in own.epochs(3):
    for images, labels in own.batches(loader):
        timed_step(net, optimizer, images, labels)
own.show()
