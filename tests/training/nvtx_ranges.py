# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges of an unmodified program."""

import collections
import os
import sys
import tempfile
import unittest

import training

PYTHON = training.interpreter("nvtx")
PROGRAM = [PYTHON, os.path.join(training.HERE, "nvtx_program.py")]


class Nvtx(unittest.TestCase):
    def test_ranges(self):
        run, _ = training.record(PROGRAM)
        self.assertEqual(
            collections.Counter(r.name for r in run.find("nvtx_range")),
            {
                "step": 5,
                "data: inner": 7,
                "pair": 5,
                "crossing": 5,
                "outer": 1,
                "other: größer": 1,
                "thread": 1,
                "child": 1,
            },
        )
        main = run.find(name="step")[0]
        (thread,) = run.find(name="thread")
        (child,) = run.find(name="child")
        self.assertEqual((thread.pid, thread.tid != main.tid), (main.pid, True))
        self.assertNotEqual(child.pid, main.pid)

    def test_users_choice_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            shown = "import os; print(os.environ['NVTX_INJECTION64_PATH'])"
            os.environ["NVTX_INJECTION64_PATH"] = "/nowhere/injection.so"
            done = training.execute([PYTHON, "-c", shown], folder)
            del os.environ["NVTX_INJECTION64_PATH"]
            self.assertEqual(done.stdout, b"/nowhere/injection.so\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
