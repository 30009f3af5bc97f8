# SPDX-License-Identifier: Apache-2.0
"""A small training loop: two epochs (LOOP_EPOCHS) of 10 batches of 4 with two workers."""

import os

import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 40

    def load(self, index):
        return torch.full((4,), float(index))

    def __getitem__(self, index):
        return double(self.load(index)), index % 2


def double(row):
    return row * 2


def stack(batch):
    rows, labels = zip(*batch)
    return torch.stack(rows), torch.tensor(labels)


def main():
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Rows(), batch_size=4, num_workers=2, collate_fn=stack)
    for _ in range(int(os.environ.get("LOOP_EPOCHS", 2))):
        for rows, labels in loader:
            with torch.profiler.record_function("forward"):
                with torch.profiler.record_function("loss"):
                    loss = torch.nn.functional.cross_entropy(model(rows), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        torch.save(model.state_dict(), "model.pt")
    print(Rows.__getitem__.__qualname__, double, stack.__module__)


if __name__ == "__main__":
    main()
