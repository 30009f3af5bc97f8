# SPDX-License-Identifier: Apache-2.0
"""Exact counts of PyTorch's own markers and of the known calls in an unmodified loop."""

import collections
import os
import re
import subprocess
import sys
import tempfile
import unittest

import training

PYTHON = training.interpreter()
LOOP = [PYTHON, os.path.join(training.HERE, "loop.py")]
STEPS, EPOCHS, ROWS = 20, 2, 80
NODES_STEPS, EPOCHS_LONG = 100, 11


def of_python(coverage):
    """Without the CUDA libraries that some builds of PyTorch bring, which are never called here."""
    return [row for row in coverage if not row[1].startswith(("cuda-", "cupti", "nccl"))]


class Loop(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_, cls.done = training.record(LOOP)
        cls.main = next(r.pid for r in cls.run_.ranges if r.name == "forward")

    def test_markers(self):
        counts = collections.Counter(r.name for r in self.run_.find("torch_range", pid=self.main))
        self.assertEqual(
            counts,
            {
                # the last call of each epoch ends it
                "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__": STEPS + EPOCHS,
                "Optimizer.step#SGD.step": STEPS,
                "Optimizer.zero_grad#SGD.zero_grad": STEPS,
                "forward": STEPS,
                "loss": STEPS,
            },
        )

    def test_loaders(self):
        self.assertEqual(self.run_.count("loader_begin"), EPOCHS)
        self.assertEqual(self.run_.count("loader_next", pid=self.main), STEPS + EPOCHS)

    def test_backward_nodes(self):
        counts = collections.Counter(r.name for r in self.run_.find("torch_backward"))
        self.assertEqual(counts["AddmmBackward0"], STEPS)
        self.assertEqual(counts["torch::autograd::AccumulateGrad"], 2 * STEPS)

    def test_nodes_of_the_first_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            done = training.execute(LOOP, folder, LOOP_EPOCHS=str(EPOCHS_LONG))
            self.assertEqual(done.returncode, 0, done.stderr)
            path = os.path.join(folder, "run.zst")
            run = training.Run(path)
            told = subprocess.run(
                [os.environ["STAGEPROF_TEST_REPORT"], "ranges", path], stdout=subprocess.PIPE
            )
        counts = collections.Counter(r.name for r in run.find("torch_backward"))
        self.assertEqual(counts["AddmmBackward0"], NODES_STEPS)
        self.assertEqual(run.count("python_call", part="backward"), EPOCHS_LONG * STEPS // EPOCHS)
        self.assertIn("STAGEPROF_OPS=nodes", told.stdout.decode())

    def test_calls_of_the_trainer(self):
        counts = collections.Counter(r.name for r in self.run_.find("python_call", pid=self.main))
        calls = {
            "backward": STEPS,
            "SGD.step": STEPS,
            "Optimizer.zero_grad": STEPS,
            "torch.save": EPOCHS,
            "Linear.forward": STEPS,
            # A loader's iterator ends its workers after the last batch, and again as it is freed.
            "DataLoader end of workers": 2 * EPOCHS,
            # Two workers have two batches each ahead; as often a loader asks an ended sampler.
            "DataLoader sampler": STEPS + 2 * 2 * EPOCHS,
        }
        self.assertEqual(counts, calls)

    def test_calls_of_the_workers(self):
        calls = [r for r in self.run_.find("python_call") if r.pid != self.main]
        self.assertEqual(len({r.pid for r in calls}), 2 * EPOCHS)
        self.assertEqual(
            collections.Counter((r.part, r.name) for r in calls),
            {
                ("loader_fetch", "DataLoader fetch"): STEPS,
                ("dataset", "Rows.__getitem__"): ROWS,
                ("dataset", "Rows.load"): ROWS,
                ("dataset", "double"): ROWS,
                ("collate", "stack"): STEPS,
            },
        )

    def test_ranges_nest(self):
        outer = self.run_.find(name="forward")
        for inner in self.run_.find(name="loss"):
            self.assertEqual(
                sum(
                    o.start_ns <= inner.start_ns
                    and inner.start_ns + inner.ns <= o.start_ns + o.ns + 2
                    for o in outer
                ),
                1,
            )

    def test_coverage(self):
        states = {
            (group, state)
            for _, group, state, _ in of_python(self.run_.coverage)
            if group != "waits"  # the kernel may refuse them
        }
        parts = ("python", "framework", "torch-markers", "dataset", "loader", "parameters")
        parts += ("torch-threads",)
        states.discard(("threads-environ", "bound"))  # as the test's own environment has it
        self.assertEqual(states, {(part, "bound") for part in parts})

    def test_program_is_unchanged(self):
        with tempfile.TemporaryDirectory() as folder:
            plain = training.execute(LOOP, folder, traced=False)
        address = re.compile(rb"0x[0-9a-f]+")
        self.assertEqual(address.sub(b"", plain.stdout), address.sub(b"", self.done.stdout))
        self.assertEqual(plain.stderr, self.done.stderr)


LOADERS = """
import sys
sys.path.insert(0, "FOLDER/dist-packages")
from torch.utils.data import DataLoader
import library

class Own(DataLoader):
    def __init__(self, data):
        super().__init__(data, num_workers=3)  # line 9

DataLoader(
    [1],
    num_workers=0,
)  # line 11
for _ in range(3):
    loader = DataLoader([1], num_workers=1)  # line 16
for _ in loader:
    pass
Own([1])
library.make(DataLoader)

import torch

torch.set_num_threads(2)  # line 24
library.threads(torch.set_num_threads)
torch.nn.Linear(1, 1)(torch.ones(1))
"""


class Lines(unittest.TestCase):
    """The lines of the program that made loaders, with their workers, and that set threads."""

    def made(self, groups=("loader", "threads-set"), **settings):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "dist-packages"))
            with open(os.path.join(folder, "dist-packages", "library.py"), "w") as file:
                file.write("def make(loader): return loader([1])\n")
                file.write("def threads(set_number): set_number(1)\n")
            program = os.path.join(folder, "loaders.py")
            with open(program, "w") as file:
                file.write(LOADERS.replace("FOLDER", folder))
            run, _ = training.record([PYTHON, program], **settings)
            said = [line[3] for line in run.coverage if line[1] in groups]
            return sorted(text.replace(folder, "FOLDER") for text in said)

    def test_lines(self):
        lines = ["0 FOLDER/loaders.py:11", "1 FOLDER/loaders.py:16", "3 FOLDER/loaders.py:9"]
        lines.insert(2, "2 FOLDER/loaders.py:24")
        self.assertEqual(self.made(), lines)

    def test_paths_that_are_not_kept(self):
        lines = ["0 loaders.py:11", "1 loaders.py:16", "3 loaders.py:9"]
        lines.insert(2, "2 loaders.py:24")
        self.assertEqual(self.made(STAGEPROF_PATHS="basename"), lines)
        for kept in ("hash", "none"):
            self.assertEqual(self.made(STAGEPROF_PATHS=kept), [])


class Settings(unittest.TestCase):
    def test_python_off(self):
        run, _ = training.record(LOOP, STAGEPROF_PYTHON="0")
        self.assertEqual(run.ranges, [])
        lines = [line[1:] for line in of_python(run.coverage)]
        self.assertEqual(lines, [("framework", "loaded", "libtorch")])

    def test_operators(self):
        run, _ = training.record(LOOP, STAGEPROF_OPS="1", OMP_NUM_THREADS="1")
        self.assertIn("1", [line[3] for line in run.coverage if line[1] == "threads-environ"])
        self.assertEqual(run.count("torch_op", "aten::addmm"), STEPS)
        self.assertEqual(run.count("torch_range", "forward"), STEPS)

    def test_unknown_version(self):
        program = [PYTHON, os.path.join(training.HERE, "unknown_version.py"), LOOP[1]]
        run, _ = training.record(program)
        self.assertEqual(run.find("torch_range"), [])
        for part in ("optimizer", "zero_grad", "backward"):
            self.assertEqual(run.count("python_call", part=part), STEPS, part)
        self.assertEqual(run.count("loader_next"), STEPS + EPOCHS)
        self.assertIn(
            ("torch-markers", "unobservable", "3.0.0"), [line[1:] for line in run.coverage]
        )

    def test_own_functions(self):
        run, _ = training.record(
            LOOP, STAGEPROF_FUNCTIONS="__main__:double,torch.nn.functional:cross_entropy"
        )
        self.assertEqual(run.count("python_call", "cross_entropy", "function"), STEPS)
        # In the trainer's process nobody calls it; the workers inherit what was wrapped.
        self.assertEqual(run.count("python_call", "double", "function"), ROWS)

    def test_ranks(self):
        program = [sys.executable, "-c", "import colorsys"]
        for ranks, rank, recorded in (
            ("0", "0", True),
            ("0", "1", False),
            ("0,4-7", "5", True),
            ("0,4-7", "3", False),
            ("0,4-7", "8", False),
            ("0", None, True),
            ("1", None, False),
        ):
            settings = {"STAGEPROF_RANKS": ranks, **({"RANK": rank} if rank else {})}
            with self.subTest(ranks=ranks, rank=rank), tempfile.TemporaryDirectory() as folder:
                done = training.execute(program, folder, **settings)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertEqual(os.path.exists(os.path.join(folder, "run.zst")), recorded)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
