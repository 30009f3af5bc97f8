# SPDX-License-Identifier: Apache-2.0
"""Tar archives of JPEG files, read one after another in the training process."""

import glob, io, tarfile, numpy, torch, watched as own
from PIL import Image
from sets import FOLDER, jpeg, path
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

pictures = [jpeg(224, n) for n in range(20)]
for shard in range(4):
    with tarfile.open(path("t", f"{shard}.tar"), "w") as tar:
        for n in range(120):
            info = tarfile.TarInfo(f"{n}.jpg")
            info.size = len(pictures[n % 20])
            tar.addfile(info, io.BytesIO(pictures[n % 20]))


class Tars(IterableDataset):
    def __iter__(self):
        for name in sorted(glob.glob(FOLDER + "/t/*.tar")):
            with tarfile.open(name) as tar:
                for member in tar:
                    img = Image.open(tar.extractfile(member)).convert("RGB").resize((96, 96))
                    yield torch.from_numpy(numpy.array(img)).permute(2, 0, 1).float() / 255


enc = nn.Sequential(nn.Conv2d(3, 16, 5, 4), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 23 * 23, 8))
opt = torch.optim.Adam(enc.parameters())
for epoch in range(2):
    for x in DataLoader(Tars(), batch_size=8):
        z = enc(x)
        loss = z.pow(2).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        own.step()
own.show(epochs=2)
