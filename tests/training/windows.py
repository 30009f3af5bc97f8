# SPDX-License-Identifier: Apache-2.0
"""Recording of some steps only: by their numbers, and switched while training goes on."""

import glob
import os
import struct
import subprocess
import sys
import tempfile
import unittest

import training
from ranges import ROOT, Run

PYTHON = training.interpreter()
LOOP = [PYTHON, os.path.join(training.HERE, "loop.py")]
SWITCHED = [PYTHON, os.path.join(training.HERE, "switched_loop.py")]
STEPS = 20
OFF_AT = 48  # docs/FORMAT.md, RUN


class Windows(unittest.TestCase):
    def check(self, numbers, **settings):
        with tempfile.TemporaryDirectory() as folder:
            done = training.execute(LOOP, folder, **settings)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            path = os.path.join(folder, "run.zst")
            run, steps = Run(path), training.report("steps", path)["steps"]
            summary = training.report("summary", path)
            subprocess.run(["zstd", "-tq", *glob.glob(os.path.join(path, "*"))], check=True)
        self.assertEqual([step["index"] for step in steps], numbers)
        for label in ("forward", "loss", "Optimizer.step#SGD.step"):
            self.assertEqual(run.count("torch_range", label), len(numbers), label)
        # Where recording began, the bootstrap had been at work for long.
        self.assertIn(("python", "bound"), {line[1:3] for line in run.coverage})
        off = [stage for stage in summary["stages"] if stage["stage"] == "off"]
        self.assertEqual(len(off), 1)
        self.assertGreater(off[0]["total_ns"], 0)

    def test_steps(self):
        self.check(list(range(7, 11)), STAGEPROF_STEPS="7-10")
        self.check(list(range(7, 10)), STAGEPROF_STEPS="7:10")

    def test_nothing_comes_to_pass(self):
        program = [sys.executable, "-c", "import colorsys"]
        with tempfile.TemporaryDirectory() as folder:
            done = training.execute(program, folder, STAGEPROF_STEPS="1000:")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            summary = training.report("summary", os.path.join(folder, "run.zst"))
        self.assertEqual(summary["steps"]["count"], 0)
        self.assertEqual([stage["stage"] for stage in summary["stages"] if stage["calls"]], ["off"])

    def test_bad_values(self):
        for setting, value in (
            ("STAGEPROF_STEPS", "9-5"),
            ("STAGEPROF_STEPS", "a"),
            ("STAGEPROF_STEPS", "5:5"),
            ("STAGEPROF_STEPS", ":"),
        ):
            with self.subTest(setting, value=value), tempfile.TemporaryDirectory() as folder:
                done = training.execute([sys.executable, "-c", ""], folder, **{setting: value})
                self.assertEqual(
                    (done.returncode, done.stdout, done.stderr.count(b"\n")), (0, b"", 1)
                )
                self.assertIn(setting.encode(), done.stderr)
                self.assertIn(value.encode(), done.stderr)


class Selection(unittest.TestCase):
    """--steps, --warmup and --epoch of the report mean the same in every view, or are refused."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        done = training.execute(LOOP, cls.folder.name, STAGEPROF_OPS="1")
        assert done.returncode == 0, done.stderr
        cls.path = os.path.join(cls.folder.name, "run.zst")

    def calls(self, view, label, *options):
        rows = training.report(view, self.path, *options)[view]
        (calls,) = {row["calls"] for row in rows if label in row.values()}
        return calls

    def test_views(self):
        for view, label in (("labels", "loss"), ("ranges", "loss"), ("ops", "aten::addmm")):
            every = self.calls(view, label)
            self.assertEqual(every % STEPS, 0, view)
            for options, steps in (
                (["--steps=5:8"], 3),
                (["--warmup=12"], STEPS - 12),
                (["--epoch=0"], STEPS // 2),
            ):
                with self.subTest(view, options=options):
                    found = self.calls(view, label, *options)
                    self.assertEqual(found, every // STEPS * steps)

    def test_events(self):
        command = [os.environ["STAGEPROF_TEST_REPORT"], "dump", "-w0", "--steps=5:8", self.path]
        text = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(text.count(b"Optimizer.step#SGD.step"), 3)

    def test_refused(self):
        command = [os.environ["STAGEPROF_TEST_REPORT"], "--steps=5:8"]
        for view in ("stacks", "sync", "info", "epochs"):
            done = subprocess.run([*command, view, self.path], capture_output=True)
            self.assertEqual((done.returncode, done.stdout), (2, b""), view)
            self.assertIn(b"--steps", done.stderr)
        done = subprocess.run([*command, "ops", "--steps=99:", self.path], capture_output=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"the selection has no events, or no steps", done.stderr)


def switch_by_hand(path, off):
    (marker,) = glob.glob(os.path.join(path, "0-run-*.zst"))
    with open(marker, "r+b") as file:
        file.seek(OFF_AT)
        file.write(struct.pack("<I", off))


class Switch(unittest.TestCase):
    command = os.environ["STAGEPROF_TEST_LAUNCHER"]

    def train(self, path, by_hand, **settings):
        """Off by hand or by the command, on by the command."""
        process = subprocess.Popen(
            [*SWITCHED, "9"],
            cwd=os.path.dirname(path),
            env=training.environment(True, path, settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        with process:
            for number in range(9):
                if number == 3 and by_hand:
                    switch_by_hand(path, True)
                elif number == 3:
                    subprocess.run([self.command, "off", path], check=True)
                elif number == 6:
                    subprocess.run([self.command, "on", path], check=True)
                process.stdin.write(b"\n")
                process.stdin.flush()
                self.assertEqual(process.stdout.readline(), b"%d\n" % number)
        self.assertEqual(process.returncode, 0)

    def test_while_training_goes_on(self):
        self.check(False)

    def test_with_mapped_files(self):
        self.check(True, STAGEPROF_MODE="map")

    def check(self, by_hand, **settings):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.zst")
            self.train(path, by_hand, **settings)
            run, steps = Run(path), training.report("steps", path)["steps"]
        seen = [number for number in range(9) if run.count("torch_range", f"step {number}")]
        self.assertEqual(seen, [0, 1, 2, 6, 7, 8])
        self.assertEqual([step["index"] for step in steps], seen)
        # The time in between is in no step.
        self.assertLess(steps[2]["start_ns"] + steps[2]["wall_ns"], steps[3]["start_ns"])

    def test_command(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.zst")
            training.execute([sys.executable, "-c", "import colorsys"], folder)
            done = subprocess.run([self.command, "off", path], stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"no process of this run was found here", done.stderr)
            (marker,) = glob.glob(os.path.join(path, "0-run-*.zst"))
            with open(marker, "rb") as file:
                self.assertEqual(struct.unpack_from("<I", file.read(), OFF_AT), (1,))
        for words in (["off", "/nowhere"], ["on", ROOT]):
            done = subprocess.run([self.command, *words], stderr=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (1, 1))
            self.assertIn(words[1].encode(), done.stderr)
        self.assertEqual(subprocess.run([self.command, "on"], stderr=subprocess.PIPE).returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
