# SPDX-License-Identifier: Apache-2.0
"""Ten real trainings: `summary`, `steps`, `functions` and the page have the same time by phase,
because all ask one timeline. (The unit tests compare each step with it, by the nanosecond; `cuda`
and `kernels` are in tests/cuda.) A program's own clock has the time of its validations."""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import training

PROGRAM = os.path.join(training.HERE, "one_timeline_program.py")
PYTHON = training.interpreter()
LOOPS = (
    "plain distillation validation neighbours early accumulation two_optimizers saves workers "
    "own_batches"
).split()
SAMPLES = 200  # a second


def page(run):
    """ns by part of the page's lanes."""
    out = os.path.join(os.path.dirname(run), "page.html")
    report = os.environ["STAGEPROF_TEST_REPORT"]
    subprocess.run([report, "html", "--quiet", "-o", out, run], check=True)
    with open(out, encoding="utf-8") as file:
        text = re.search(r'id="data-training">(.*?)</script>', file.read(), re.DOTALL)[1]
    data, sums = json.loads(text), collections.Counter()
    for trainer in data["trainers"]:
        for _, ns, part in trainer["phases"]:
            sums[data["parts"][part]["part"]] += ns
    return sums, data["trainers"]


class OneTimeline(unittest.TestCase):
    def check_page(self, run, account):
        sums, trainers = page(run)
        self.assertEqual(len(trainers), 1)
        self.assertEqual({k: v for k, v in sums.items() if v}, account)
        bands = sum(
            p["end_ns"] - p["start_ns"] for p in trainers[0]["pauses"] if p["is_validation"]
        )
        self.assertGreaterEqual(bands, account.get("validation", 0))
        self.assertLess(bands, 1.01 * account.get("validation", 0) + 1)

    def check_steps(self, run, account):
        """The parts of steps, and what lies between them."""
        sums = collections.Counter()
        for step in training.report("steps", run, "--limit=all")["steps"]:
            self.assertEqual(sum(ns or 0 for ns in step["parts"].values()), step["wall_ns"])
            for part, ns in step["parts"].items():
                sums[part] += ns or 0
        self.assertEqual(sums["validation"], 0)
        for part in ("forward", "backward", "optimizer"):
            self.assertEqual(sums[part], account.get(part, 0), part)

    def check_functions(self, run, account):
        """A sample stands for the time to the next one. A phase that samples have, the account has
        too; they differ by what chance makes of so many samples."""
        sums = collections.Counter()
        for row in training.report("functions", run, "--limit=all")["functions"]:
            sums[row["phase"]] += row["own_ns"]
        period_ns = 1e9 / SAMPLES
        for part, ns in account.items():
            chance_ns = 5 * (ns * period_ns) ** 0.5 + 5 * period_ns
            self.assertLess(abs(sums[part] - ns), 0.1 * ns + chance_ns, part)
        for part in ("forward", "evaluation", "validation", "backward", "environment"):
            if part not in account:
                self.assertEqual(sums[part], 0, part)

    def record(self, name):
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run.zst")
            command = [os.environ["STAGEPROF_TEST_LAUNCHER"], "run", f"--sample={SAMPLES}"]
            command += ["--quiet", "-o", run, "--", PYTHON, PROGRAM, name]
            done = training.execute(command, folder, traced=False)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            summary = training.report("summary", run)
            account = {row["part"]: row["ns"] for row in summary["account"] if row["ns"]}
            self.check_page(run, account)
            self.check_steps(run, account)
            self.check_functions(run, account)
            own_ns, ns = 1e9 * float(done.stdout), account.get("validation", 0)
            self.assertLess(abs(ns - own_ns), 0.1 * own_ns + 20e6, "validation")
            self.assertEqual("evaluation" in account, name == "own_batches")

    def test_loops(self):
        for name in LOOPS:
            with self.subTest(name):
                self.record(name)


if __name__ == "__main__":
    unittest.main()
