# SPDX-License-Identifier: Apache-2.0
"""Ten real trainings: `summary`, `steps`, `functions`, `cuda` and the page have the same time by
phase, because all ask one timeline. (The unit tests compare each step with it, by the nanosecond.)
A program's own clock has the time of its validations; a fake device has the work of the kernels."""

import bisect
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
KERNEL_NS = 1000
FAKE, VICTIMS = (os.environ.get("STAGEPROF_TEST_" + n, "") for n in ("FAKE", "VICTIMS"))


def page(run):
    """The page's data of the one trainer; its phases as (start, ns, part)."""
    out = os.path.join(os.path.dirname(run), "page.html")
    report = os.environ["STAGEPROF_TEST_REPORT"]
    subprocess.run([report, "html", "--quiet", "-o", out, run], check=True)
    with open(out, encoding="utf-8") as file:
        text = re.search(r'id="data-training">(.*?)</script>', file.read(), re.DOTALL)[1]
    data = json.loads(text)
    [trainer] = data["trainers"]
    return trainer, [(at, ns, data["parts"][part]["part"]) for at, ns, part in trainer["phases"]]


class OneTimeline(unittest.TestCase):
    def check_page(self, trainer, phases, account):
        sums = collections.Counter()
        for _, ns, part in phases:
            sums[part] += ns
        self.assertEqual({k: v for k, v in sums.items() if v}, account)
        bands = sum(p["end_ns"] - p["start_ns"] for p in trainer["pauses"] if p["is_validation"])
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

    def check_device(self, run, phases):
        """Calls of the device, and the work that they launch, by the page's phases at their begins:
        `cuda` has the same ns, and `cuda --by=kernel` as many works."""
        starts = [at for at, _, _ in phases]
        sums, launches = collections.Counter(), collections.Counter()
        for event in training.report("dump", run, "--limit=all")["events"]:
            if event["stage"] != "cuda_launch":
                continue
            at, ns, part = phases[bisect.bisect_right(starts, event["start_ns"]) - 1]
            part = part if at <= event["start_ns"] < at + ns else "no_step"
            sums[part] += event["dur_ns"]
            launches[part] += 1
        cuda = {row["part"]: row for row in training.report("cuda", run)["parts"]}
        for part, ns in sums.items():
            self.assertEqual(cuda[part]["launches"], launches[part], part)
            # A call's ends are rounded to ns, or its length is.
            self.assertLessEqual(abs(cuda[part]["host_ns"] - ns), launches[part], part)
        self.assertGreater(launches["backward"], 0)
        works = collections.Counter()
        for row in training.report("cuda", run, "--by=kernel", "--limit=all")["kernels"]:
            for part in ("forward", "backward", "optimizer", "other"):
                works[part] += row[part + "_ns"]
        for part in ("forward", "backward", "optimizer"):
            self.assertEqual(round(works[part] / KERNEL_NS), launches[part], part)
        self.assertEqual(round(sum(works.values()) / KERNEL_NS), sum(launches.values()))

    def record(self, name):
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run.zst")
            command = [os.environ["STAGEPROF_TEST_LAUNCHER"], "run", f"--sample={SAMPLES}"]
            command += ["--quiet", "-o", run]
            if VICTIMS:
                libraries = ":".join(os.path.join(FAKE, name) for name in ("", "13", "cupti13"))
                command += ["--cupti=1", "--", "env", f"LD_LIBRARY_PATH={libraries}"]
                command += [PYTHON, PROGRAM, name, os.path.join(VICTIMS, "libgpu_kernels.so")]
            else:
                command += ["--", PYTHON, PROGRAM, name]
            done = training.execute(command, folder, traced=False)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            summary = training.report("summary", run)
            account = {row["part"]: row["ns"] for row in summary["account"] if row["ns"]}
            trainer, phases = page(run)
            self.check_page(trainer, phases, account)
            self.check_steps(run, account)
            self.check_functions(run, account)
            if VICTIMS:
                self.check_device(run, phases)
            own_ns, ns = 1e9 * float(done.stdout), account.get("validation", 0)
            self.assertLess(abs(ns - own_ns), 0.1 * own_ns + 20e6, "validation")
            self.assertEqual("evaluation" in account, name == "own_batches")

    def test_loops(self):
        for name in LOOPS:
            with self.subTest(name):
                self.record(name)


if __name__ == "__main__":
    unittest.main()
