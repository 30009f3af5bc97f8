# SPDX-License-Identifier: Apache-2.0
"""A table of pandas, a row of it for each sample, in the training process."""

import pandas, torch, watched as own
from sets import mlp, noise
from torch.utils.data import DataLoader, Dataset

frame = pandas.DataFrame(noise(20000, 40))
frame["label"] = (frame[0] > 0).astype(int)


class Rows(Dataset):
    def __len__(self):
        return len(frame)

    def __getitem__(self, i):
        line = frame.iloc[i]
        return torch.tensor(line[:-1].values, dtype=torch.float32), int(line["label"])


model = mlp(40, 256, 256, 2)
opt = torch.optim.Adam(model.parameters(), 1e-3)
loss_fn = torch.nn.CrossEntropyLoss()
loader = DataLoader(Rows(), batch_size=128, shuffle=True)
for epoch in range(1):
    for x, y in loader:
        opt.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        opt.step()
        own.step()
own.show(epochs=1)
