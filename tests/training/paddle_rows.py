# SPDX-License-Identifier: Apache-2.0
"""Loader, forward, backward, optimizer and own ranges of Paddle trainers: exact counts.

Paddle lives in an environment of its own: scripts/requirements-paddle.txt.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest

import training

PROGRAM = [training.paddle(), os.path.join(training.HERE, "paddle_program.py")]
LAYERS = [training.paddle(), os.path.join(training.HERE, "paddle_layers_program.py")]
SHAPES = [training.paddle(), os.path.join(training.HERE, "paddle_shapes_program.py")]
STATIC = [training.paddle(), os.path.join(training.HERE, "paddle_static_program.py")]
SEQUENCE = [training.paddle(), os.path.join(training.TRAINERS, "paddle_sequence.py")]
EPOCHS, BATCHES, BATCH = 2, 6, 4
STEPS = EPOCHS * BATCHES


def counts(run):
    return collections.Counter((r.part, r.name) for r in run.ranges)


class Loop(unittest.TestCase):
    def test_all(self):
        run, done = training.record(PROGRAM)
        self.assertEqual(done.stdout, b"trained\n")
        seen = counts(run)
        for part, name, calls in (
            ("loader_begin", "paddle DataLoader begin", EPOCHS),
            ("loader_next", "paddle DataLoader next", STEPS + EPOCHS),
            ("loader_fetch", "paddle DataLoader fetch", STEPS),
            ("dataset", "Rows.__getitem__", STEPS * BATCH),
            ("collate", "default_collate_fn", STEPS),
            ("backward", "paddle backward", STEPS),
            ("optimizer", "paddle AdamW.step", STEPS),
            ("zero_grad", "paddle clear_grad", STEPS),
            ("checkpoint_save", "paddle.save", EPOCHS),
            ("none", "outer", STEPS),
            ("none", "inner", STEPS),
        ):
            self.assertEqual(seen[part, name], calls, name)
        fetching = {r.pid for r in run.find(part="loader_fetch")}
        self.assertEqual(len(fetching), EPOCHS)
        self.assertEqual(fetching & {r.pid for r in run.find(part="backward")}, set())

    def test_window_of_rank_0(self):
        settings = {"STAGEPROF_STEPS": "3-7", "STAGEPROF_RANKS": "0"}
        run, _ = training.record(PROGRAM, PADDLE_TRAINER_ID="0", **settings)
        seen = counts(run)
        self.assertEqual((seen["backward", "paddle backward"], seen["none", "outer"]), (5, 5))
        with tempfile.TemporaryDirectory() as folder:
            training.execute(PROGRAM, folder, PADDLE_TRAINER_ID="1", **settings)
            self.assertFalse(os.path.exists(os.path.join(folder, "run.zst")))

    def test_static_graph(self):
        run, done = training.record(STATIC)
        self.assertIn(b"trained", done.stdout)
        seen = counts(run)
        self.assertEqual(seen["update", "paddle Executor.run"], 12)
        self.assertEqual(seen["none", "paddle Executor.run"], 4)
        self.assertEqual(seen["none", "paddle Optimizer.minimize"], 1)

    def test_shapes(self):
        for shape in ("fit", "scaled"):
            with self.subTest(shape), tempfile.TemporaryDirectory() as folder:
                done = training.execute([*SHAPES, shape], folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                counted = json.loads(done.stdout.splitlines()[-1])
                run = os.path.join(folder, "run.zst")
                self.assertEqual(
                    training.report("summary", run)["steps"]["count"], counted["steps"]
                )
                epochs = training.report("epochs", run)["epochs"]
                self.assertEqual([epoch["steps"] for epoch in epochs], counted["epochs"])
                self.assertEqual(
                    [bool(epoch["validation_ns"]) for epoch in epochs], [True] * len(epochs)
                )

    def test_one_line_of_steps_10_to_20(self):
        with tempfile.TemporaryDirectory() as folder:
            settings = {
                "STAGEPROF_STEPS": "10-20",
                "STAGEPROF_RANKS": "0",
                "PADDLE_TRAINER_ID": "0",
            }
            done = training.execute(SEQUENCE, folder, **settings)
            self.assertEqual(done.returncode, 0, done.stderr)
            command = [os.environ["STAGEPROF_TEST_REPORT"], "line", os.path.join(folder, "run.zst")]
            told = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
            found = training.report("line", os.path.join(folder, "run.zst"))["line"][0]
        self.assertRegex(
            told,
            r"^steps 10 to 20: [^\n]*input wait [^\n]*forward [^\n]*backward [^\n]*optimizer [^\n]*\n$",
        )
        self.assertEqual((found["first_step"], found["last_step"], found["steps"]), (10, 20, 11))
        shares = [
            value for key, value in found.items() if key.endswith("_share") and value is not None
        ]
        self.assertAlmostEqual(sum(shares), 1, 3)
        self.assertIsNone(found["h2d_copy_share"])

    def test_account(self):
        with tempfile.TemporaryDirectory() as folder:
            done = training.execute(SEQUENCE, folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            summary = training.report("summary", os.path.join(folder, "run.zst"))
        self.assertEqual(summary["steps"]["count"], 24)
        account = {row["part"]: row["ns"] for row in summary["account"]}
        for part in ("loader_wait", "forward", "backward", "optimizer", "zero_grad"):
            self.assertGreater(account[part], 0, part)
        for part in ("h2d_copy", "grad_sync", "sync_wait"):
            self.assertIsNone(account[part], part)



class Layers(unittest.TestCase):
    STEPS = 8

    def test_layers_and_operators(self):
        """STAGEPROF_MODULES and STAGEPROF_OPS: exact counts, and the program's own numbers."""
        with tempfile.TemporaryDirectory() as folder:
            plain = training.execute(LAYERS, folder, traced=False)
            done = training.execute(LAYERS, folder, STAGEPROF_MODULES="3", STAGEPROF_OPS="1")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, plain.stdout)
            run = os.path.join(folder, "run.zst")
            modules = training.report("modules", run)["modules"]
            operators = {row["op"]: row["calls"] for row in training.report("ops", run)["ops"]}
            steps = len(training.report("steps", run)["steps"])
        self.assertEqual(steps, self.STEPS)
        calls = collections.Counter()
        for row in modules:
            calls[row["path"], row["class"], row["depth"]] += row["calls"]
        # The copy, a model of its own, is called once more. So is the model that raised.
        self.assertEqual(calls["", "Sequential", 0], self.STEPS + 2)
        self.assertEqual(calls["0", "Block", 1], self.STEPS + 2)
        self.assertEqual(calls["0.mix", "Linear", 2], self.STEPS + 1)
        self.assertEqual(calls["1", "ReLU", 1], self.STEPS + 1)
        self.assertEqual(calls["2", "Linear", 1], self.STEPS + 1)
        self.assertEqual(operators["relu"], self.STEPS + 1)
        self.assertEqual(operators["matmul"], self.STEPS)
        self.assertEqual(operators["add"], self.STEPS + 1)
        self.assertEqual(operators["sgd_"], 4 * self.STEPS)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
