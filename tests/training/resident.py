# SPDX-License-Identifier: Apache-2.0
"""Host memory of the trainer and its worker by step, against what the trainer itself reads."""

import json
import os
import sys
import tempfile
import unittest

import training

PROGRAM = [training.interpreter(), os.path.join(training.HERE, "resident_program.py")]
MIB = 1 << 20
NEAR = 4 * MIB  # what the program takes to read and keep its own number
TRAINER_MIB, WORKER_MIB = 32, 16


class Resident(unittest.TestCase):
    def test_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            done = training.execute(PROGRAM, folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            run = os.path.join(folder, "run.zst")
            steps = training.report("steps", run)["steps"]
            processes = training.report("processes", run)["processes"]
        held = json.loads(done.stdout)
        self.assertEqual(len(steps), len(held))
        for step, truth in zip(steps, held):
            self.assertAlmostEqual(step["rss_bytes"], truth, delta=NEAR)
            self.assertEqual([p["role"] for p in step["memory"]], ["trainer", "worker"])
            self.assertEqual(step["memory"][0]["rss_bytes"], step["rss_bytes"])
            self.assertEqual(step["memory"][1]["rss_bytes"], step["workers_rss_bytes"])
        # Samples of the worker are at its fetches, two of which are ahead of the first step.
        grown = steps[2]["workers_rss_bytes"] - steps[0]["workers_rss_bytes"]
        self.assertGreaterEqual(grown, WORKER_MIB * MIB)
        most = {process["rss_max_bytes"] for process in processes}
        self.assertIn(steps[-1]["rss_bytes"], most)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
