# SPDX-License-Identifier: Apache-2.0
"""An HDF5 file that is opened for each sample, one worker."""

import h5py, torch, watched as own
from sets import mlp, noise, path
from torch.utils.data import DataLoader, Dataset

with h5py.File(path("d.h5"), "w") as f:
    for n in range(300):
        f[f"g{n}/x"], f[f"g{n}/y"] = noise(64, 32, seed=n), n % 5


class H5(Dataset):
    def __len__(self):
        return 3000

    def __getitem__(self, i):
        with h5py.File(path("d.h5"), "r") as f:
            group = f[f"g{i % 300}"]
            return torch.from_numpy(group["x"][:]).flatten(), int(group["y"][()])


model = mlp(2048, 64, 5)
opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for epoch in range(2):
    for x, y in DataLoader(H5(), 32, num_workers=1):
        opt.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
        own.step()
own.show(epochs=2)
