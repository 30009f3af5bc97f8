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
EXTRA_NS = 1000000  # what another process may take between a timer and what it times


def timed(test):
    """Another process may take the processor between a timer and what it times: three tries."""

    def retried(self):
        for _ in range(2):
            try:
                return test(self)
            except AssertionError:
                self.setUpClass()
        return test(self)

    return retried


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

    def near(self, part, ns, share, calls):
        bound = share * ns + CALL_NS * calls + EXTRA_NS
        found = self.account[part]["ns"]
        self.assertLessEqual(abs(found - ns), bound, (part, found, ns))

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

    @timed
    def test_calls(self):
        calls, ns = self.timers["backward"]
        self.near("backward", ns, 0.02, calls)
        # PyTorch's code around its own marker is in the timer, and not in the marker.
        calls, ns = self.timers["optimizer"]
        self.near("optimizer", ns, 0.1, 4 * calls)
        # The last zero_grad is after the last step.
        calls, ns = self.timers["zero_grad"]
        self.assertLessEqual(self.account["zero_grad"]["ns"], ns + CALL_NS * calls)

    @timed
    def test_forward(self):
        """The timer is around the model and the loss."""
        calls, ns = self.timers["forward"]
        found = self.account["forward"]["ns"] + self.account["loss"]["ns"]
        self.assertLessEqual(abs(found - ns), 0.05 * ns + CALL_NS * calls + EXTRA_NS)

    @timed
    def test_loader_wait(self):
        wall = sum(step["wall_ns"] for step in self.steps["steps"])
        found = sum(step["parts"]["loader_wait"] for step in self.steps["steps"])
        self.assertLess(abs(found - self.timers["loader_wait"][1]) / wall, 0.02)

    def test_ends_of_the_loader(self):
        """In the account, all beginnings but the first epoch's and all ends but the last one's; in
        no step."""
        in_steps = sum(step["parts"]["loader_wait"] for step in self.steps["steps"])
        between = self.account["loader_wait"]["ns"] - in_steps
        timed = [self.timers[name] for name in ("loader_begin", "loader_end")]
        self.assertEqual([calls for calls, _ in timed], [EPOCHS, EPOCHS])
        self.assertTrue(0 < between < sum(ns for _, ns in timed))

    @timed
    def test_validation(self):
        """One between steps, one after them; the timer includes the making of workers."""
        calls, ns = self.timers["validation"]
        found = sum(e["validation_ns"] for e in self.epochs["epochs"])
        self.assertEqual(calls, EPOCHS)
        self.assertLessEqual(abs(found - ns), 0.1 * ns + EXTRA_NS)
        self.assertEqual(self.account["validation"]["ns"], found)
        self.assertTrue(0 < self.account["validation"]["outside_steps_ns"] < found)

    def test_checkpoint(self):
        calls, ns = self.timers["checkpoint"]
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
