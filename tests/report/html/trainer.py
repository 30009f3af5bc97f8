# SPDX-License-Identifier: Apache-2.0
"""trainer.py FOLDER EPOCHS STEPS [MS WORKERS]: trains on the files of a folder, with two workers,
as anybody's script would. MS: processor time for each file."""

import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

folder, epochs, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
work_ms, workers = (int(word) for word in (sys.argv[4:] or ["0", "2"]))


def augment(ms):
    end = time.thread_time_ns() + ms * 1_000_000
    while time.thread_time_ns() < end:
        pass  # the line of the advice


class Files(Dataset):
    names = sorted(os.listdir(os.fsencode(folder)))

    def __len__(self):
        return 4 * steps

    def __getitem__(self, index):
        with open(
            os.path.join(os.fsencode(folder), self.names[index % len(self.names)]), "rb"
        ) as file:
            data = file.read()
        if work_ms:
            augment(work_ms)
        return torch.full((16,), float(len(data) % 7))


torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for epoch in range(epochs):
    for step, batch in enumerate(DataLoader(Files(), batch_size=4, num_workers=workers)):
        with torch.profiler.record_function("forward </script><img src=x onerror=alert(1)>"):
            loss = model(batch).square().mean()
            if step == steps // 2:
                time.sleep(0.05)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        for batch in DataLoader(Files(), batch_size=4):
            model(batch)
    torch.save(model.state_dict(), os.devnull)
    print("epoch", epoch, flush=True)
