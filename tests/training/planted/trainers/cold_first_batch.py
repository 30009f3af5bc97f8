# SPDX-License-Identifier: Apache-2.0
"""Workers that read an index before their first sample, and are started again in each short epoch.
"""

import time

import torch
from torch.utils.data import DataLoader, Dataset

import fit


class Samples(Dataset):
    index = None

    def __len__(self):
        return 40

    def __getitem__(self, number):
        if self.index is None:
            time.sleep(1.5)
            self.index = torch.rand(40, 512)
        return self.index[number], number % 2


def train(_folder):
    fit.fit(fit.network(512, 512, 4), DataLoader(Samples(), batch_size=2, num_workers=2), epochs=3)


if __name__ == "__main__":
    fit.main(None, train)
