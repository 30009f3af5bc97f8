# SPDX-License-Identifier: Apache-2.0
"""Four epochs whose workers each take 0.6 s to start, and a validation after each epoch,
whose workers start at once.

PERSISTENT: 1 where the workers stay.
"""

import os
import time

import torch

EPOCHS, STEPS = 4, 8


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 2 * STEPS

    def __getitem__(self, index):
        return torch.full((8,), float(index))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 2)

    def forward(self, rows):
        time.sleep(0.010)
        return self.layer(rows)


def start(_worker):
    time.sleep(0.6)


torch.set_num_threads(1)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
train = torch.utils.data.DataLoader(
    Rows(),
    batch_size=2,
    num_workers=2,
    worker_init_fn=start,
    persistent_workers=os.environ["PERSISTENT"] == "1",
)
check = torch.utils.data.DataLoader(Rows(), batch_size=2, num_workers=2)
for _ in range(EPOCHS):
    for rows in train:
        loss = net(rows).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        for rows in check:
            net(rows)
