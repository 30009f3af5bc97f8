# SPDX-License-Identifier: Apache-2.0
"""Steps, epochs and the account of a real loop, beside the timers written into it."""

import json
import os
import sys
import tempfile
import unittest

import training

PYTHON = training.interpreter()
EPOCHS, BATCHES, VALIDATED = 2, 10, 3
CALL_NS = 5000
EXTRA_NS = 1000000  # code between a timer and what it times, that runs once


class Loop:
    workers = accumulate = None

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(training.HERE, "timed_loop.py")
            command = [PYTHON, program, str(cls.workers), str(cls.accumulate)]
            done = training.execute(command, folder)
            if done.returncode != 0:
                raise AssertionError(done.stderr.decode())
            run = os.path.join(folder, "run.zst")
            cls.timers = json.loads(done.stdout)
            cls.summary, cls.steps = training.report("summary", run), training.report("steps", run)
            cls.epochs = training.report("epochs", run)
            cls.workers_seen = training.report("workers", run)["workers"]
            cls.threads = training.report("threads", run)["threads"]
        cls.account = {row["part"]: row for row in cls.summary["account"]}

    def near(self, what, found, timers, share):
        """Within a share of the timers; another program may get the core between a timer and what
        it times, for as long as the thread waited for one."""
        calls, ns, core_wait_ns = (sum(each) for each in zip(*(self.timers[t] for t in timers)))
        bound = share * ns + CALL_NS * calls + EXTRA_NS + core_wait_ns
        told = f"{what}: {found} ns of {ns}, waits for a core {core_wait_ns}, bound {bound:.0f}"
        self.assertLessEqual(abs(found - ns), bound, told)

    def test_counts(self):
        count = EPOCHS * BATCHES // self.accumulate
        self.assertEqual(self.summary["steps"]["count"], count)
        self.assertEqual([s["index"] for s in self.steps["steps"]], list(range(count)))
        self.assertEqual([e["steps"] for e in self.epochs["epochs"]], [count // EPOCHS] * EPOCHS)

    def test_account_is_whole(self):
        steps = self.steps["steps"]
        wall = steps[-1]["start_ns"] + steps[-1]["wall_ns"] - steps[0]["start_ns"]
        rows = self.account.values()
        within = sum((row["ns"] or 0) - (row["outside_steps_ns"] or 0) for row in rows)
        self.assertEqual(within, wall)
        for step in steps:
            self.assertEqual(sum(ns or 0 for ns in step["parts"].values()), step["wall_ns"])

    def test_calls(self):
        self.near("backward", self.account["backward"]["ns"], ["backward"], 0.02)
        # PyTorch's code around its own marker is in the timer, and not in the marker.
        self.near("optimizer", self.account["optimizer"]["ns"], ["optimizer"], 0.1)
        # The last zero_grad is after the last step.
        calls, ns, _ = self.timers["zero_grad"]
        self.assertLessEqual(self.account["zero_grad"]["ns"], ns + CALL_NS * calls)

    def test_forward(self):
        """The timer is around the model and the loss."""
        found = self.account["forward"]["ns"] + self.account["loss"]["ns"]
        self.near("forward", found, ["forward"], 0.05)

    def test_loader_wait(self):
        found = sum(step["parts"]["loader_wait"] for step in self.steps["steps"])
        self.near("waits", found, ["loader_wait"], 0.05)

    def test_ends_of_the_loader(self):
        """In the account, and in no step; the first beginning and the last end are outside of the
        steps."""
        in_steps = sum(step["parts"]["loader_wait"] for step in self.steps["steps"])
        row = self.account["loader_wait"]
        ends = row["ns"] - in_steps
        self.assertEqual(self.timers["loader_begin"][0], EPOCHS)
        self.assertEqual(self.timers["loader_end"][0], EPOCHS)
        self.near("ends", ends, ["loader_begin", "loader_end"], 0.05)
        outside = row["outside_steps_ns"] or 0
        self.near("ends outside", outside, ["first_loader_begin", "last_loader_end"], 0.05)

    def test_validation(self):
        """One between steps, one after them; the timer includes the making of workers."""
        found = sum(e["validation_ns"] for e in self.epochs["epochs"])
        self.assertEqual(self.timers["validation"][0], EPOCHS)
        self.near("validation", found, ["validation"], 0.1)
        self.assertEqual(self.account["validation"]["ns"], found)
        outside = self.account["validation"]["outside_steps_ns"]
        self.assertTrue(0 < outside < found, (outside, found))

    def test_checkpoint(self):
        calls, ns, _ = self.timers["checkpoint"]
        found = self.account["checkpoint"]["ns"]
        self.assertEqual(calls, EPOCHS)
        self.assertTrue(0 < found < ns, (found, ns))

    def test_what_is_not_there(self):
        for part in ("h2d_copy", "grad_sync", "sync_wait"):
            self.assertIsNone(self.account[part]["ns"])
            self.assertTrue(self.account[part]["reason"])

    def test_batches(self):
        made = sum(w["batches"] for w in self.workers_seen)
        self.assertEqual(made, EPOCHS * (BATCHES + VALIDATED))
        making = {t["pid"] for t in self.threads if t["role"] == "worker"}
        # a loader's workers live for an epoch, or a validation
        self.assertEqual(len(making), self.workers * 2 * EPOCHS)
        training = {(t["pid"], t["tid"]) for t in self.threads if t["role"] == "trainer"}
        self.assertEqual(len(training), 1)
        roles = {w["role"] for w in self.workers_seen}
        self.assertEqual(roles, {"worker"} if self.workers else {"trainer"})


class TwoWorkers(Loop, unittest.TestCase):
    workers, accumulate = 2, 1


class NoWorkers(Loop, unittest.TestCase):
    workers, accumulate = 0, 1


class Accumulation(Loop, unittest.TestCase):
    workers, accumulate = 2, 2


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
