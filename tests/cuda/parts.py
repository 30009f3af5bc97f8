# SPDX-License-Identifier: Apache-2.0
"""Kernels by what the training thread did when they were launched: a trainer whose launches are
known."""

import os
import sys
import tempfile
import unittest

import cupti

SKIP = 77
STEPS = 12
PYTHON = os.environ.get("STAGEPROF_TEST_PYTHON")
HERE = os.path.dirname(os.path.abspath(__file__))


class Trainer(cupti.Run):
    def __init__(self, folder):
        library = os.path.join(cupti.path_of("STAGEPROF_TEST_VICTIMS"), "libgpu_kernels.so")
        arguments = [os.path.join(HERE, "gpu_trainer.py"), library, str(STEPS)]
        super().__init__(
            folder, *arguments, program=PYTHON, PATH=os.environ["PATH"], OMP_NUM_THREADS="1"
        )


class Parts(unittest.TestCase):
    def test_parts(self):
        with tempfile.TemporaryDirectory(prefix="stageprof-parts-") as folder:
            run = Trainer(folder)
            self.assertEqual(run.traced.returncode, 0, run.traced.stderr)
            told = run.report("kernels")
            seen = {row["symbol"]: row for row in told["kernels"]}
            summary, steps = run.report("summary"), run.report("steps")["steps"]
        known = {
            "_Z6convolPfS_i": ("forward_ns", 2 * STEPS),
            "_Z8gradientPfS_i": ("backward_ns", STEPS),
            "_Z36ncclDevKernel_AllReduce_Sum_f32_RINGv": ("backward_ns", STEPS),
            "_Z3sgdPfif": ("optimizer_ns", STEPS),
        }
        for name, (part, calls) in known.items():
            row = seen[name]
            self.assertEqual(row["calls"], calls, name)
            others = {
                p: row[p]
                for p in ("forward_ns", "backward_ns", "optimizer_ns", "other_ns")
                if p != part
            }
            self.assertEqual(row[part], row["total_ns"], (name, row))
            self.assertEqual(set(others.values()), {0}, (name, row))
        [device] = told["devices"]
        works = sum(row["total_ns"] for row in seen.values())
        self.assertAlmostEqual(device["busy_ns"], works, delta=works / 100, msg="one stream")
        # The device works on when the last step has ended; a step is as long as its thread waits
        # for a core.
        self.assertGreater(device["training_busy_ns"], 0.75 * works)
        training_ns = steps[-1]["start_ns"] + steps[-1]["wall_ns"] - steps[0]["start_ns"]
        share = device["training_busy_ns"] / training_ns
        self.assertAlmostEqual(device["training_busy_share"], share, delta=0.01 * share)
        self.assertEqual(summary["gpu"]["kernels"], 5 * STEPS)


if __name__ == "__main__":
    if not PYTHON:
        print("skipped: STAGEPROF_TEST_PYTHON names no Python with PyTorch")
        sys.exit(SKIP)
    unittest.main()
