# SPDX-License-Identifier: Apache-2.0
"""Steps, epochs and validations of training loops of many shapes, against what each loop counted
itself."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import training

PROGRAM = [training.interpreter(), os.path.join(training.HERE, "shapes_program.py")]


class Shapes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        done = training.execute(PROGRAM, cls.folder.name)
        if done.returncode != 0:
            raise AssertionError(done.stderr.decode())
        cls.shapes = json.loads(done.stdout)
        cls.run_ = os.path.join(cls.folder.name, "run.zst")

    def seen(self, pid):
        summary, steps, epochs = (
            training.report(view, self.run_, f"--process={pid}")
            for view in ("summary", "steps", "epochs")
        )
        steps, epochs = steps["steps"], epochs["epochs"]
        account = {row["part"]: row["ns"] for row in summary["account"] or ()}
        outside = sum(row["outside_steps_ns"] or 0 for row in summary["account"] or ())
        if steps:
            wall = steps[-1]["start_ns"] + steps[-1]["wall_ns"] - steps[0]["start_ns"]
            self.assertEqual(sum(ns or 0 for ns in account.values()) - outside, wall)
            self.assertGreater(account["forward"], 0)
            self.assertGreater(account["backward"], 0)
            if summary["steps"]["end_with"] == "optimizer":
                self.assertGreater(account["optimizer"], 0)
            else:
                self.assertIsNone(account["optimizer"])
        if account.get("loader_wait") is None and len(epochs) < 2:  # nothing shows an epoch's end
            self.assertIsNone(summary["steps"]["epochs"])
        elif len(epochs) > 1:
            self.assertEqual(summary["steps"]["epochs"], len(epochs))
        return {
            "steps": len(steps),
            "epochs": [epoch["steps"] for epoch in epochs],
            "validated": sum(bool(epoch["validation_ns"]) for epoch in epochs),
            "loader": account.get("loader_wait") is not None,
            "loader_wait": account.get("loader_wait"),
            "end_with": summary["steps"]["end_with"],
            "checkpoint": bool(account.get("checkpoint")),
            "checkpoint_ns": self.within(summary, "checkpoint"),
        }

    @staticmethod
    def within(summary, part):
        """Between the first step's start and the last one's end."""
        row = next((row for row in summary["account"] or () if row["part"] == part), {})
        return row["ns"] - row["outside_steps_ns"] if row.get("ns") is not None else None

    def batches_of(self, worker):
        command = [os.environ["STAGEPROF_TEST_REPORT"], "workers", "--format=json", self.run_]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        rows = json.loads(done.stdout)["workers"]
        return sum(
            row["batches"] for row in rows if row["pid"] == worker and row["role"] == "worker"
        )

    def test_shapes(self):
        self.assertGreater(len(self.shapes), 15)
        for name, counted in self.shapes.items():
            with self.subTest(name):
                seen = self.seen(counted.pop("pid"))
                if "worker" in counted:
                    self.assertEqual(self.batches_of(counted.pop("worker")), counted["steps"])
                if "waited_ns" in counted:
                    waited = counted.pop("waited_ns")
                    self.assertGreater(seen["loader_wait"], 0.8 * waited)
                    self.assertLess(seen["loader_wait"], 1.02 * waited)
                if "saved_ns" in counted:
                    saved = counted.pop("saved_ns")
                    self.assertGreater(seen["checkpoint_ns"], 0.8 * saved)
                    self.assertLess(seen["checkpoint_ns"], 1.02 * saved)
                self.assertEqual({key: seen[key] for key in counted}, counted)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
