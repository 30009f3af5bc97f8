# SPDX-License-Identifier: Apache-2.0
"""Others who look into the same process see what they saw without us."""

import os
import subprocess
import sys
import tempfile
import unittest

import training

PROGRAM = [training.interpreter(), os.path.join(training.HERE, "neighbours_program.py")]
NIGHTLY = "--nightly" in sys.argv
STEPS = {"forward": 3, "clip_grad_norm_": 3, "Optimizer.step#SGD.step": 3, "SGD.step": 3}


class Neighbours(unittest.TestCase):
    def check(self, neighbour, ranges):
        with tempfile.TemporaryDirectory() as folder:
            plain = training.execute([*PROGRAM, neighbour], folder, traced=False)
        run, traced = training.record([*PROGRAM, neighbour])
        self.assertEqual((plain.returncode, plain.stdout), (0, traced.stdout))
        self.assertNotEqual(plain.stdout, b"")
        for name, calls in ranges.items():
            self.assertEqual(run.count(name=name), calls, name)
        told = [line[1:3] for line in run.coverage]
        self.assertEqual(
            told.count(("torch-compile", "unobservable")), neighbour == "compile", told
        )

    def test_compile(self):
        # The three steps around the compiled model have their marks; in a compiled step PyTorch
        # ignores them.
        self.check("compile", {"forward": 3})

    def test_profiler(self):
        self.check("profiler", STEPS)

    @unittest.skipUnless(NIGHTLY, "nightly")
    def test_callbacks(self):
        self.check("observer", STEPS)

    @unittest.skipUnless(NIGHTLY, "nightly")
    def test_coverage(self):
        if subprocess.run(
            [PROGRAM[0], "-c", "import coverage"], stderr=subprocess.DEVNULL
        ).returncode:
            self.skipTest("no coverage for the interpreter that trains")
        self.check("coverage", STEPS)

    @unittest.skipUnless(NIGHTLY, "nightly")
    def test_profile_function(self):
        self.check("setprofile", {"forward": 2, "clip_grad_norm_": 2, "backward": 2})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
