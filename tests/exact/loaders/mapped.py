# SPDX-License-Identifier: Apache-2.0
"""Readers of mapped files in a DataLoader's worker, each with pages that have to be read and with
pages that are there: the page faults that the report has for its fetches are those that
getrusage(2) counted in them, each file is mapped to the byte, and its page reads are the kernel's
and lie in the reader's time.

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
import time

import load

READERS = {
    "memmap": "pages.raw",
    "lmdb": "pages.lmdb/data.mdb",
    "arrow": "pages.arrow",
    "safetensors": "pages.safetensors",
    "torch": "pages.pt",
    "sqlite": "pages.sqlite",
}
BATCH = 8
SLACK = load.PAGES // BATCH


def counters():
    """Faults that read and others, the times at which the thread waited, and the time."""
    usage = resource.getrusage(resource.RUSAGE_THREAD)
    return usage.ru_majflt, usage.ru_minflt, usage.ru_nvcsw, time.perf_counter_ns()


class Pages:
    """A batch is what the kernel counted in the worker while it was made. The first one opens the
    file. Where it is cold, the cache lets go of the pages that are not mapped before each batch."""

    def __init__(self, data, reader, is_cold):
        self.open, self.data, self.page = getattr(load, "map_" + reader), data, None
        self.path, self.is_cold = os.path.join(data, READERS[reader]), is_cold

    def __len__(self):
        return load.PAGES

    def __getitems__(self, numbers):
        faults = counters()[:2]
        if self.is_cold:
            drop(self.path)
        self.before = faults + counters()[2:]
        if self.page is None:
            self.page = self.open(self.data)
        return [len(self.page(i * 37 % load.PAGES)) for i in numbers]

    def collate(self, lengths):
        assert lengths == [load.PAGE] * BATCH
        return [after - before for before, after in zip(self.before, counters())] + [os.getpid()]


def drop(path):
    """Has the page cache let go of a file; the next reader waits for the disk."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def train(data):
    """A trainer with loaders for each reader in turn, as what is no trainer has no workers."""
    import torch

    weight = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 0.1)
    counted = {reader: [] for reader in READERS}
    for reader in READERS:
        for is_cold in (True, False):
            pages = Pages(data, reader, is_cold)
            with open(pages.path, "rb") as file:
                file.read()
            batches = []
            try:
                for batch in torch.utils.data.DataLoader(
                    pages, BATCH, num_workers=1, collate_fn=pages.collate
                ):
                    batches.append(batch)
                    weight.sum().backward()
                    optimizer.step()
            except ImportError as missing:
                print(f"{reader} skipped: {missing}", file=sys.stderr)
                continue
            counted[reader].append(batches)
    print(json.dumps(counted))


def report(view, run):
    command = [os.environ["STAGEPROF_TEST_REPORT"], view, "--limit=all", "--format=json", run]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def check_faults(seen, reader, batches):
    major, minor = (sum(batch[i] for batch in batches) for i in range(2))
    print(
        f"{reader}: counted {major} that read, {minor} others; reported {seen['major_faults']}, {seen['minor_faults']}"
    )
    assert seen["batches"] == load.PAGES // BATCH, seen
    # A fetch begins a little before what it calls and ends a little after.
    assert major <= seen["major_faults"] <= major + SLACK, (major, seen)
    assert minor <= seen["minor_faults"] <= minor + SLACK, (minor, seen)


def check_file(row, reader, runs):
    """In a first fetch so many modules may be imported that records are lost."""
    later = [batch for batches in runs for batch in batches[1:]]
    every = [batch for batches in runs for batch in batches]
    wall_ns = sum(batch[3] for batch in every)
    reads, ns = row["mapped_reads"], row["mapped_read_ns"]
    print(
        f"{reader}: {reads} page reads, {ns / 1e6:.2f} ms of the reader's {wall_ns / 1e6:.2f} ms"
    )
    assert row["maps"] >= 1 and row["mapped_bytes"] >= os.path.getsize(row["name"]), row
    # A page that read-ahead is bringing is waited for, too.
    assert sum(batch[0] for batch in later) <= reads <= sum(b[0] + b[2] for b in every), row
    assert (ns > 0) == (reads > 0) and ns <= wall_ns, row


def main():
    python = os.environ["STAGEPROF_TEST_LOADER_PYTHON"]
    imports = "import torch"
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
        for reader, runs in counted.items():
            for batches in runs:
                check_faults(workers[batches[0][-1]], reader, batches)
            path = os.path.join(data, READERS[reader])
            for row in files:
                if row["name"] == path and runs:
                    check_file(row, reader, runs)
    if not any(batch[0] for runs in counted.values() for batches in runs for batch in batches):
        print(f"no page had to be read: the file system of {sys.argv[1]} keeps them in memory")


if __name__ == "__main__":
    if sys.argv[1] == "train":
        train(sys.argv[2])
    else:
        main()
