# SPDX-License-Identifier: Apache-2.0
"""webdataset: shards of JPEG images, shuffled, decoded and scaled by Pillow in two workers."""

import io, numpy as np, torch, watched as own, webdataset as wds
from sets import jpeg, path

for s in range(4):
    with wds.TarWriter(path(f"s-{s}.tar")) as out:
        for n in range(60):
            out.write({"__key__": f"{s}{n:03}", "jpg": jpeg(512, n), "cls": n % 10})


def small(image):
    return torch.from_numpy(np.array(image.resize((64, 64)))).permute(2, 0, 1).float() / 255


data = (
    wds.WebDataset(path("s-{0..3}.tar"), shardshuffle=4)
    .shuffle(100).decode("pil").to_tuple("jpg", "cls").map_tuple(small, int).batched(16)
)
net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 64 * 64, 10))
opt = torch.optim.SGD(net.parameters(), 0.01)
for epoch in range(3):
    for x, y in wds.WebLoader(data, batch_size=None, num_workers=2):
        opt.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
        own.step()
own.show(epochs=3)
