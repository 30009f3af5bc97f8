# SPDX-License-Identifier: Apache-2.0
"""Two workers share one lock around a slow read."""

import time, torch, torch.multiprocessing as mp, watched as own
from sets import mlp
from torch.utils.data import DataLoader, Dataset

lock = mp.Lock()


class OneAtATime(Dataset):
    def __len__(self):
        return 1000

    def __getitem__(self, i):
        with lock:
            time.sleep(0.005)
        return torch.randn(64)


net = mlp(64, 128, 1)
opt = torch.optim.Adam(net.parameters())
for x in DataLoader(OneAtATime(), 8, num_workers=2):
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    own.step()
own.show(epochs=1)
