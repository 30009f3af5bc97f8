# SPDX-License-Identifier: Apache-2.0
"""Readers of mapped files in a DataLoader's worker: the page faults that the report has for its
fetches are those that getrusage(2) counted in them, and each file is mapped to the byte.

Environment: STAGEPROF_TEST_LIB, STAGEPROF_TEST_REPORT, STAGEPROF_TEST_LOADER_PYTHON. FOLDER: on a
disk. mapped.py FOLDER: the test. mapped.py train DATA: the trainer, which prints what its workers
counted.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile

import load

READERS = {
    "memmap": "pages.raw",
    "lmdb": "pages.lmdb/data.mdb",
    "arrow": "pages.arrow",
    "safetensors": "pages.safetensors",
}
BATCH = 8
SLACK = load.PAGES // BATCH


def faults():
    usage = resource.getrusage(resource.RUSAGE_THREAD)
    return usage.ru_majflt, usage.ru_minflt


class Pages:
    """A batch is what the kernel counted in the worker while it was made. The first one opens the
    file."""

    def __init__(self, data, reader):
        self.open, self.data, self.page = getattr(load, "map_" + reader), data, None

    def __len__(self):
        return load.PAGES

    def __getitems__(self, numbers):
        self.before = faults()
        if self.page is None:
            self.page = self.open(self.data)
        return [len(self.page(i * 37 % load.PAGES)) for i in numbers]

    def collate(self, lengths):
        assert lengths == [load.PAGE] * BATCH
        return [os.getpid(), *(after - before for before, after in zip(self.before, faults()))]


def drop(path):
    """Has the page cache let go of a file; the next reader waits for the disk."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def train(data):
    """A trainer with a loader for each reader in turn, as what is no trainer has no workers."""
    import torch

    weight = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 0.1)
    counted = {}
    for reader, file in READERS.items():
        drop(os.path.join(data, file))
        pages = Pages(data, reader)
        batches = []
        for batch in torch.utils.data.DataLoader(
            pages, BATCH, num_workers=1, collate_fn=pages.collate
        ):
            batches.append(batch)
            weight.sum().backward()
            optimizer.step()
        (pid,) = {pid for pid, _, _ in batches}
        counted[reader] = [
            pid,
            sum(major for _, major, _ in batches),
            sum(minor for _, _, minor in batches),
        ]
    print(json.dumps(counted))


def report(view, run):
    command = [os.environ["STAGEPROF_TEST_REPORT"], view, "--limit=all", "--format=json", run]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def check(seen, files, reader, major, minor, path):
    print(
        f"{reader}: counted {major} that read, {minor} others; reported {seen['major_faults']}, {seen['minor_faults']}"
    )
    assert seen["batches"] == load.PAGES // BATCH, seen
    # A fetch begins a little before what it calls and ends a little after.
    assert major <= seen["major_faults"] <= major + SLACK, (major, seen)
    assert minor <= seen["minor_faults"] <= minor + SLACK, (minor, seen)
    row = next(row for row in files if row["name"] == path)
    assert row["maps"] >= 1 and row["mapped_bytes"] >= os.path.getsize(path), row


def main():
    python = os.environ["STAGEPROF_TEST_LOADER_PYTHON"]
    imports = "import torch, lmdb, pyarrow, safetensors"
    if subprocess.run([python, "-c", imports], stderr=subprocess.DEVNULL).returncode:
        print(f"skipped: {python} lacks one of: {imports}")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="mapped-", dir=sys.argv[1]) as data:
        data = os.path.realpath(data)
        run = os.path.join(data, "run.zst")
        subprocess.run([python, load.__file__, "pages", data], check=True)
        environment = dict(
            os.environ, LD_PRELOAD=os.environ["STAGEPROF_TEST_LIB"], STAGEPROF_OUTPUT=run
        )
        done = subprocess.run(
            [python, __file__, "train", data], env=environment, stdout=subprocess.PIPE, check=True
        )
        counted = json.loads(done.stdout)
        workers = {
            row["pid"]: row for row in report("workers", run)["workers"] if row["role"] == "worker"
        }
        files = report("files", run)["files"]
        for reader, (pid, major, minor) in counted.items():
            check(workers[pid], files, reader, major, minor, os.path.join(data, READERS[reader]))
    if not any(major for _, major, _ in counted.values()):
        print(f"no page had to be read: the file system of {sys.argv[1]} keeps them in memory")


if __name__ == "__main__":
    if sys.argv[1] == "train":
        train(sys.argv[2])
    else:
        main()
