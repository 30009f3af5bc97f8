# SPDX-License-Identifier: Apache-2.0
"""PyTorch's DataLoader and torchrun: whole epochs, loaders left early, workers and ranks that are
killed."""

import os
import re
import subprocess
import sys

import harness

PYTHON = os.environ.get("STAGEPROF_TEST_PYTHON") or sys.executable

# Each worker counts its own reads in a file of its own, before and after each.
PROGRAM = """
import os, struct, sys
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

class Files(Dataset):
    def __len__(self):
        return 600
    def __getitem__(self, i):
        me = get_worker_info().id
        if not hasattr(self, "fd"):
            self.fd = os.open(f"data-{me}.dat", os.O_RDONLY)
            self.counts = open(f"count-{me}", "r+b", 0)
            self.begun = self.done = 0
        if HOW == "kill" and me == 1 and self.done == 300:
            os.kill(os.getpid(), 9)
        total = 0
        for k in range(3):
            self.begun += 1
            os.pwrite(self.counts.fileno(), struct.pack("<QQ", self.begun, self.done), 0)
            total += len(os.pread(self.fd, 100, (i * 3 + k) % 900))
            self.done += 1
            os.pwrite(self.counts.fileno(), struct.pack("<QQ", self.begun, self.done), 0)
        return total

HOW = sys.argv[1]
def main():
    for me in range(2):
        open(f"data-{me}.dat", "wb").write(bytes(1024))
        open(f"count-{me}", "wb").write(bytes(16))
    persistent = HOW == "leave"
    loader = DataLoader(Files(), batch_size=10, num_workers=2, persistent_workers=persistent,
                        multiprocessing_context=os.environ.get("METHOD", "fork"))
    total = 0
    for number, batch in enumerate(loader):
        total += int(batch.sum())
        if HOW == "leave" and number == 7:
            sys.exit(4)
    print(total)
if __name__ == "__main__":
    main()
"""

RANKS = """
import os, sys
rank = os.environ["RANK"]
with open(f"data-{rank}.dat", "wb") as file:
    file.write(bytes(1000))
fd = os.open(f"data-{rank}.dat", os.O_RDONLY)
for i in range(500):
    os.pread(fd, 10, i)
if len(sys.argv) > 1 and rank == "1":
    os.kill(os.getpid(), 9)
"""


class Loaders(harness.Case):
    @classmethod
    def setUpClass(cls):
        if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
            raise harness.unittest.SkipTest("no Python with PyTorch here")

    def load(self, how, traced=None, **env):
        program = os.path.join(self.folder, "program.py")
        with open(program, "w") as file:
            file.write(PROGRAM)
        argv = [PYTHON, program, how]
        if traced is None:
            return self.both(*argv, name=env.get("METHOD", ""), env=env)
        return self.execute(argv, self.subfolder(f"traced-{traced}"), traced=traced, env=env)

    def assert_counts(self, outcome):
        """Each worker's own count, before and after its last call."""
        reported = harness.reads_by_name(outcome.trace)
        for worker in range(2):
            path = os.path.join(outcome.folder, "cwd", f"count-{worker}")
            with open(path, "rb") as file:
                begun, done = harness.struct.unpack("<QQ", file.read())
            calls, _ = reported[f"data-{worker}.dat"]
            self.assert_within(harness.Bounds(done, begun, 0), calls, None, f"worker {worker}")
            self.assertGreater(done, 0)
        self.assertEqual(outcome.trace.stages()[1]["events_lost"], 0)
        self.assert_valid(outcome.trace)

    def test_whole_epoch(self):
        for method in ("fork", "spawn"):
            outcome = self.load("epoch", METHOD=method)
            self.assertEqual(outcome.done.stdout, b"180000\n")
            self.assert_counts(outcome)

    def test_left_early(self):
        outcome = self.load("leave")
        self.assertEqual(outcome.done.returncode, 4)
        self.assert_counts(outcome)

    def test_killed_worker(self):
        """PyTorch raises its error from a handler, anywhere: what it then says differs from run to
        run."""
        for traced in (False, True):
            outcome = self.load("kill", traced)
            self.assertEqual(outcome.done.returncode, 1)
            self.assertIn(b"Error", outcome.done.stderr)
        self.assertEqual(outcome.notes(), [])
        self.assert_counts(outcome)


class Ranks(harness.Case):
    setUpClass = Loaders.setUpClass

    def run_ranks(self, *argv):
        program = os.path.join(self.folder, "ranks.py")
        with open(program, "w") as file:
            file.write(RANKS)
        launch = [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
        outcome = self.execute([*launch, program, *argv], self.subfolder("run"))
        reported = harness.reads_by_name(outcome.trace)
        for rank in range(2):
            self.assertEqual(reported[f"data-{rank}.dat"], (500, 5000), f"rank {rank}")
        said = outcome.done.stderr.decode()
        self.assertEqual(re.findall("^stageprof:.*", said, re.M), [])
        return outcome.done

    def test_torchrun(self):
        self.assertEqual(self.run_ranks().returncode, 0)

    def test_killed_rank(self):
        self.assertEqual(self.run_ranks("kill").returncode, 1)


if __name__ == "__main__":
    harness.main()
