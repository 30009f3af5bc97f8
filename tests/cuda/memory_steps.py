# SPDX-License-Identifier: Apache-2.0
"""Device memory in use and at most by step, and the calls that wait for the device, against a
trainer's own account."""

import json
import os

from calls import Case
import harness

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = 12


class Memory(Case):
    def train(self):
        fake = harness.environment("STAGEPROF_TEST_FAKE")
        environment = {"LD_LIBRARY_PATH": f"{fake}:{fake}/13", "FAKE_CUDA_MALLOC_WAITS": "1"}
        argv = [
            os.environ["STAGEPROF_TEST_PYTHON"],
            os.path.join(HERE, "memory_trainer.py"),
            str(STEPS),
        ]
        outcome = self.execute(argv, self.subfolder("run"), env=environment)
        self.assertEqual(outcome.done.returncode, 0, outcome.done.stderr)
        self.assert_valid(outcome.trace)
        return json.loads(outcome.done.stdout), outcome.trace

    def assert_bytes(self, said, told):
        rows = told["memory_steps"]
        self.assertEqual([row["end_bytes"] for row in rows], said["ends"])
        self.assertEqual([row["peak_bytes"] for row in rows], said["peaks"])
        [memory] = told["memory"]
        self.assertEqual(
            (
                memory["end_bytes"],
                memory["peak_bytes"],
                memory["pinned_peak_bytes"],
                memory["unmatched_frees"],
            ),
            (said["end"], said["peak"], said["pinned_peak"], 0),
        )

    def assert_waits(self, said, told):
        """The reported time of a call lies in what the script's clock ran for, and holds the time
        for which the device says that the call waited."""
        rows = {row["event"]: row for row in told["allocations"]}
        self.assertEqual(
            {name: row["calls"] for name, row in rows.items()},
            {name: row[0] for name, row in said["calls"].items()},
        )
        for name, (_, ns, waited) in said["calls"].items():
            total = rows[name]["total_ns"]
            self.assertLessEqual(total, ns, name)
            self.assertGreaterEqual(total, waited, name)
            self.assertLessEqual(rows[name]["max_ns"], total)
        for name in "cuMemHostAlloc", "cuMemAlloc", "cuMemFree":
            self.assertGreater(said["calls"][name][2], 0, name)
        self.assertEqual(said["calls"]["cuMemFreeHost"][2], 0, "there is nothing to wait for")

    def test_each_step(self):
        said, trace = self.train()
        told = trace.report("cuda")
        self.assert_bytes(said, told)
        self.assert_waits(said, told)
        self.assertLess(
            min(said["ends"][STEPS // 2 :]), min(said["ends"][: STEPS // 2]), "a reset frees all"
        )
        few = trace.report("cuda", "--steps=3:5")["memory_steps"]
        self.assertEqual(
            [(r["step"], r["peak_bytes"]) for r in few], [(n, said["peaks"][n]) for n in (3, 4)]
        )


if __name__ == "__main__":
    harness.main()
