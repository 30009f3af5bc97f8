# SPDX-License-Identifier: Apache-2.0
"""Programs for the advice on storage. FOLDER is far away (a FUSE file system that sleeps), so the
gain does not depend on cores."""

import io
import os

import numpy
import own_loop as own
import torch
from own_loop import CASE, IS_AFTER, Loop
from torch.utils.data import DataLoader, Dataset

STEPS, FLOATS = 60, 4096
FOLDER = os.environ["FOLDER"]
NEAR = os.path.dirname(os.path.abspath(FOLDER.rstrip("/")))


def path(name):
    return os.path.join(FOLDER, name)


class Samples(Dataset):
    def __len__(self):
        return 2 * STEPS

    def __getitem__(self, index):
        return torch.from_numpy(self.read(index)[: own.WIDTH].astype("f4"))

    def read(self, index):
        return numpy.frombuffer(self.whole(f"{index}.bin"), "f4")

    def whole(self, name):
        with open(path(name), "rb", buffering=0) as file:
            return file.read()


class Local(Samples):
    """A copy that is near."""

    def __init__(self):
        self.copies = {}
        for index in range(len(self)):
            self.copies[index] = super().read(index)

    def read(self, index):
        return self.copies[index]


class Pieces(Samples):
    """4 KiB at a time, which the kernel does not read ahead."""

    def read(self, index):
        parts = []
        file = os.open(path(f"{index}.bin"), os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
        while part := os.read(file, 4096):
            parts.append(part)
        os.close(file)
        return numpy.frombuffer(b"".join(parts), "f4")


class Shard(Samples):
    """All samples of a few files, which stay open."""

    def __init__(self):
        self.file = None

    def read(self, index):
        self.file = self.file or open(path("shard.bin"), "rb", buffering=0)
        self.file.seek(index * 4 * FLOATS)
        return numpy.frombuffer(self.file.read(4 * FLOATS), "f4")


class Many(Samples):
    """A sample is eight files."""

    def read(self, index):
        parts = [self.whole(f"{index}-{part}.bin") for part in range(4)]
        return numpy.frombuffer(b"".join(parts), "f4")


class Mapped(Samples):
    def __init__(self):
        self.rows = numpy.memmap(path("far.bin"), "f4", "r").reshape(-1, FLOATS)
        if IS_AFTER:
            self.rows = self.rows.copy()

    def read(self, index):
        return self.rows[index * 31 % len(self.rows)] + 0


def batches():
    """The loop reads samples itself."""
    samples = Samples()
    for index in range(0, 2 * STEPS, 2):
        yield torch.stack([samples[index], samples[index + 1]])


def passes():
    if CASE != "own_input":
        return [DataLoader(MADE[CASE][IS_AFTER](), batch_size=2, num_workers=1)]
    return [DataLoader(Samples(), batch_size=2, num_workers=6) if IS_AFTER else batches()]


MADE = {
    "page_cache": (Samples, Local),
    "larger_reads": (Pieces, Samples),
    "fewer_opens": (Many, Shard),
    "mapped_reads": (Mapped, Mapped),
}

if __name__ == "__main__":
    Loop(own.sleeping(4)).fit(passes())
