# SPDX-License-Identifier: Apache-2.0
"""Two ranks, of which the second takes longer over its samples; the first waits for its gradients.
"""

import time

import torch
import torch.distributed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

import fit


class Samples(Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        if torch.distributed.get_rank() == 1:
            time.sleep(0.02)
        return torch.full((512,), float(index)), index % 2


def train(_folder):
    torch.distributed.init_process_group("gloo")
    samples = Samples()
    loader = DataLoader(samples, batch_size=4, sampler=DistributedSampler(samples))
    fit.fit(DistributedDataParallel(fit.network(512, 256, 2)), loader)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    fit.main(None, train)
