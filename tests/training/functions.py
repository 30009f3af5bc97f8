# SPDX-License-Identifier: Apache-2.0
"""STAGEPROF_FUNCTIONS in a program that no framework runs: each call counts, the first one too."""

import os
import subprocess
import sys
import unittest

import training
from ranges import Run

PROGRAM = os.path.join(training.HERE, "functions_program.py")
THREAD_PROGRAM = os.path.join(training.HERE, "functions_thread_program.py")
CALLS = {
    "total": 1 + 4,
    "Table.row": 4,
    "Table.empty": 4,
    "doubled": 2,
    "raises": 3,
    "factorial": 6,
}
UNKNOWN = ("__main__:unknown", "json:unknown", "nowhere:f")


def summary(path):
    command = [os.environ["STAGEPROF_TEST_REPORT"], "summary", path]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()


class Functions(unittest.TestCase):
    def record(self, names, check, program=PROGRAM):
        with training.tempfile.TemporaryDirectory() as folder:
            done = training.execute(
                [sys.executable, program], folder, STAGEPROF_FUNCTIONS=",".join(names)
            )
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            check(os.path.join(folder, "run.zst"), done.stdout.decode())

    def test_each_call_counts(self):
        def check(path, said):
            run = Run(path)
            for name, calls in CALLS.items():
                self.assertEqual(run.count("python_call", name, "function"), calls, name)
            self.assertEqual(said, "1 6 8 120 True\n")
            self.assertNotIn("STAGEPROF_FUNCTIONS", summary(path))

        self.record([f"__main__:{name}" for name in CALLS], check)

    def test_calls_of_another_thread_count(self):
        def check(path, _said):
            run = Run(path)
            self.assertEqual(run.count("python_call", "Table.__getitem__", "function"), 7)
            self.assertEqual(run.count("python_call", "looked_up", "function"), 1)

        names = ["__main__:Table.__getitem__", "__main__:looked_up"]
        self.record(names, check, THREAD_PROGRAM)

    def test_unknown_names_are_reported(self):
        def check(path, _said):
            told = [line for line in summary(path).splitlines() if "STAGEPROF_FUNCTIONS" in line]
            self.assertEqual(len(told), len(UNKNOWN))
            for name in UNKNOWN:
                self.assertTrue(any(f" {name}:" in line for line in told), name)

        self.record(["__main__:total", "json:dumps", *UNKNOWN], check)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
