# SPDX-License-Identifier: Apache-2.0
"""A job that marks its own steps: a label is one row, and an export has each step's name once."""

import collections
import gzip
import json
import os
import re
import subprocess
import unittest

import training

PYTHON = training.interpreter()
PROGRAM = os.path.join(training.HERE, "labels_program.py")
STEPS = 30


def chrome_steps(path):
    """How often each numbered step is in the export."""
    command = [os.environ["STAGEPROF_TEST_REPORT"], "export", "chrome", "-o", path + ".json"]
    subprocess.run([*command, path], check=True)
    with gzip.open(path + ".json") as file:
        events = json.load(file)["traceEvents"]
    names = [event["name"] for event in events if event.get("ph") == "X"]
    return collections.Counter(name for name in names if re.match(r"ProfilerStep#\d", name))


class Labels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = training.tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        done = training.execute([PYTHON, PROGRAM], cls.folder.name)
        if done.returncode != 0:
            raise AssertionError(done.stderr.decode())
        cls.path = os.path.join(cls.folder.name, "run.zst")

    def test_flat(self):
        labels = {row["label"]: row for row in training.report("labels", self.path)["labels"]}
        self.assertEqual((labels["outer"]["calls"], labels["inner"]["calls"]), (STEPS, 2 * STEPS))
        outer, inner = labels["outer"], labels["inner"]
        self.assertAlmostEqual(outer["self_ns"] + inner["total_ns"], outer["total_ns"], delta=STEPS)
        self.assertEqual(inner["mean_ns"], inner["total_ns"] // (2 * STEPS))

    def test_nested(self):
        rows = training.report("ranges", self.path)["ranges"]
        self.assertEqual([row["calls"] for row in rows if row["name"] == "outer"], [STEPS])
        self.assertLess(len(rows), 40)

    def test_export_names_each_step_once(self):
        named = chrome_steps(self.path)
        self.assertEqual(named, {f"ProfilerStep#{i}": 1 for i in range(STEPS)})


class Window(unittest.TestCase):
    def test_export_numbers_steps_as_the_report_does(self):
        with training.tempfile.TemporaryDirectory() as folder:
            done = training.execute([PYTHON, PROGRAM], folder, STAGEPROF_STEPS="10-20")
            self.assertEqual(done.returncode, 0, done.stderr)
            path = os.path.join(folder, "run.zst")
            shown = [row["index"] for row in training.report("steps", path)["steps"]]
            named = chrome_steps(path)
        self.assertGreaterEqual(min(shown), 9)
        self.assertEqual(named, {f"ProfilerStep#{number}": 1 for number in shown})


if __name__ == "__main__":
    unittest.main()
