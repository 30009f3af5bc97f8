# SPDX-License-Identifier: Apache-2.0
"""The account of small trainers beside the timers that they carry (truth/).

Rows are within 5% and 5 µs a call, and the time that another program had the core meanwhile. Each
test is a defect that a report once had. Sleeps are most of each part, so a loaded machine changes
both the timer and the row.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import training

PYTHON = training.interpreter()
EXTRA_NS = 3000000


def run(name, *arguments, views=(), settings=None):
    """The trainer's timers, its other output, and the views and the card of its run."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(training.HERE, "truth", name + ".py")
        done = training.execute([PYTHON, program, *arguments], folder, **(settings or {}))
        if done.returncode != 0:
            raise AssertionError(done.stderr.decode())
        lines = done.stdout.decode().strip().split("\n")
        path = os.path.join(folder, "run.zst")
        seen = {view: training.report(view, path) for view in ("summary", *views)}
        card = [os.environ["STAGEPROF_TEST_REPORT"], path]
        text = subprocess.run(card, stdout=subprocess.PIPE, check=True).stdout.decode()
        seen["card"] = " ".join(text.split())
        printed = json.loads(lines[-1])
        return printed.pop("timers"), printed, seen


class Account(unittest.TestCase):
    def near(self, seen, found, timer, what):
        self.assertIsNotNone(found, what)
        calls, ns, core_wait_ns = timer
        told = f"{what}: {found / 1e6:.2f} ms of {ns / 1e6:.2f} ms"
        allowed_ns = training.allowed_ns(calls, ns, core_wait_ns, seen["summary"]["own_cost"])
        self.assertLessEqual(abs(found - ns), allowed_ns + EXTRA_NS, told)

    def check(self, seen, timers, *parts, **renamed):
        rows = {row["part"]: row["ns"] for row in seen["summary"]["account"]}
        for part, name in [*[(part, part) for part in parts], *renamed.items()]:
            self.near(seen, rows[part], timers[name], part)
        return rows

    def test_before_and_after_the_steps(self):
        timers, printed, seen = run("one_epoch")
        parts = ["forward", "loss", "backward", "checkpoint", "validation"]
        self.check(seen, timers, *parts, loader_wait="wait")
        life = {row["part"]: row["ns"] for row in seen["summary"]["life"]}
        self.assertGreater(life["start_up"], timers["start_up"][1])
        after = sum(timers[name][1] for name in ("validation", "checkpoint", "rest"))
        self.assertGreater(life["ends"] + life["after"], after - EXTRA_NS)
        known = timers["validation"][1] + timers["checkpoint"][1]
        self.assertGreater(life["ends"], 0.9 * known)
        self.near(seen, life["first_batch"] + life["steps"], timers["steps"], "steps")
        # The interpreter ends after it has printed, and began before anything was recorded.
        self.assertGreater(sum(life.values()), (printed["life_s"] - 0.5) * 1e9)
        self.assertAlmostEqual(sum(row["share"] for row in seen["summary"]["life"]), 1, 4)

    def test_a_long_first_step(self):
        """The account has its forward, a step has not, and the report says what differs."""
        timers, _, seen = run("first_step")
        self.check(seen, timers, "forward", "backward")
        verdict = seen["summary"]["verdict"]
        self.assertTrue(any("in the first steps" in doubt for doubt in verdict["doubts"]), verdict)
        self.assertNotEqual(verdict["confidence"], "high")
        # a step that was put off its core may be one of them
        self.assertRegex(seen["card"], r"; \d+ warm-up steps? took \d")

    def test_batches_listed_ahead(self):
        """The start-up says that it takes batches: nothing else does, since no step waits."""
        timers, _, seen = run("listed_ahead")
        life = {row["part"]: row for row in seen["summary"]["life"]}
        self.near(seen, life["start_up"]["loader_ns"], timers["listed"], "listed")
        others = [row["loader_ns"] for part, row in life.items() if part != "start_up"]
        self.assertEqual(set(others), {None})

    def test_many_validations(self):
        timers, _, seen = run("many_validations", views=["epochs"])
        self.check(seen, timers, "validation", "forward", "backward")
        self.assertEqual([row["steps"] for row in seen["epochs"]["epochs"]], [20, 20])

    def test_checkpoints_of_a_thread(self):
        timers, _, seen = run("saving_thread")
        row = next(row for row in seen["summary"]["account"] if row["part"] == "checkpoint")
        self.assertIsNone(row["ns"])
        self.near(seen, row["beside_ns"], timers["saved"], "beside")

    def test_evaluation_by_hand(self):
        timers, _, seen = run("evaluation_by_hand", views=["steps"])
        self.check(seen, timers, "evaluation", "forward", "loss", "backward")
        # The first step has its forward, so the mean divides rightly: the model sleeps for 20 ms.
        first = seen["steps"]["steps"][0]["parts"]
        self.assertGreaterEqual(first["forward"], 20e6)
        self.assertEqual(seen["summary"]["steps"]["count"], 40)

    def test_rollouts(self):
        timers, _, seen = run("rollouts")
        self.check(seen, timers, "forward", "backward", evaluation="rollout")
        self.assertEqual(seen["summary"]["verdict"]["code"], "evaluation-bound")

    def test_closures(self):
        timers, _, seen = run("lbfgs")
        self.check(seen, timers, "forward", "backward", "optimizer")

    def test_loads_are_no_saves(self):
        timers, _, seen = run("shards")
        timers["both"] = [sum(each) for each in zip(timers["load"], timers["checkpoint"])]
        self.check(seen, timers, "backward", checkpoint="both")
        verdict = seen["summary"]["verdict"]
        self.assertIn(training.told(verdict), ("load-bound", "machine-busy"), verdict)
        advice = [each["id"] for each in seen["summary"]["advice"]]
        self.assertNotIn("async_checkpoint", advice)

    def test_two_rounds_of_a_step(self):
        """Code that changes weights between two backwards is the optimizer's, or nothing says whose
        it is: no loop is blamed for it."""
        timers, _, seen = run("two_rounds")
        rows = self.check(seen, timers, "forward", "backward", "optimizer")
        self.assertLess(rows["other"], 0.1 * rows["optimizer"])
        self.assertEqual(seen["summary"]["steps"]["count"], 30)
        for summary in [seen["summary"], run("two_rounds", "own")[2]["summary"]]:
            verdict = summary["verdict"]
            self.assertNotIn("loop-bound", [verdict["code"], *verdict["also"]], verdict)
        self.assertNotEqual(verdict["confidence"], "high", verdict)

    def test_a_busy_machine(self):
        """Alone the model takes the time; beside programs that compute it may not be blamed on the
        loader, nor on the job's own threads."""
        timers, _, seen = run("busy_machine", "beside")
        self.assertEqual(seen["summary"]["steps"]["count"], timers["forward"][0])
        verdict = seen["summary"]["verdict"]
        self.assertIn(training.told(verdict), ("machine-busy", "compute-bound"), verdict)
        self.assertNotEqual(verdict["confidence"], "high", verdict)

    def test_a_loader_in_a_thread(self):
        for argument in [[], ["within"]]:
            timers, _, seen = run("loader_thread", *argument, views=["epochs"])
            with self.subTest(argument):
                self.check(seen, timers, "forward", "backward", loader_wait="wait")
                rows = {row["part"]: row for row in seen["summary"]["account"]}
                self.assertEqual(rows["loader_wait"]["source"], "residual")
                self.assertEqual(seen["summary"]["verdict"]["code"], "input-bound")
                self.assertEqual([row["steps"] for row in seen["epochs"]["epochs"]], [25, 25])


if __name__ == "__main__":
    unittest.main()
