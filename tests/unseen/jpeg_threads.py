# SPDX-License-Identifier: Apache-2.0
"""A dataset of batches whose samples a pool of threads decodes by OpenCV."""

import concurrent.futures, cv2, numpy as np, torch, watched as own
from sets import jpeg
from torch.utils.data import DataLoader, Dataset

cv2.setNumThreads(0)
files = [np.frombuffer(jpeg(640, n), "u1") for n in range(32)]
pool = concurrent.futures.ThreadPoolExecutor(2)


def decode(n):
    return cv2.resize(cv2.imdecode(files[n % 32], 1), (64, 64))


class Batches(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, i):
        x = np.stack(list(pool.map(decode, range(i * 16, i * 16 + 16))))
        return torch.from_numpy(x).float().flatten(1) / 255


net = torch.nn.Linear(64 * 64 * 3, 10)
opt = torch.optim.SGD(net.parameters(), 0.01)
for x in DataLoader(Batches(), batch_size=None, shuffle=True):
    opt.zero_grad()
    net(x).square().mean().backward()
    opt.step()
    own.step()
own.show(epochs=1)
