# SPDX-License-Identifier: Apache-2.0
"""Time on the GPU, by part of a step, and loader waits lost and hidden, against a device that knows
its own."""

import json
import os
import sys

from calls import Case
import harness

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "timed_trainer.py")
STEPS = 8
MS = 1_000_000


class TimedCase(Case):
    def train(self, *arguments, env=None):
        fake = harness.environment("STAGEPROF_TEST_FAKE")
        environment = {
            "LD_LIBRARY_PATH": f"{fake}:{fake}/13",
            "FAKE_CUDA_STRICT": "1",
            **(env or {}),
        }
        argv = [os.environ["STAGEPROF_TEST_PYTHON"], SCRIPT, str(STEPS), *map(str, arguments)]
        outcome = self.execute(argv, self.subfolder("run"), env=environment)
        self.assertEqual(outcome.done.returncode, 0, outcome.done.stderr)
        said = json.loads(outcome.done.stdout)
        self.assertEqual((said["errors"], said["violations"]), (0, 0))
        self.assert_valid(outcome.trace)
        return said, outcome.trace

    def assert_parts(self, said, trace, least, slack=1.0):
        """`least` parts of the truth, because some work begins early or ends late; slack: ms a
        stretch, from
        launches."""
        account = {row["part"]: row["gpu_ns"] for row in trace.report("summary")["account"]}
        for part, ns in said["gpu_ns"].items():
            self.assertGreaterEqual(account[part], least * ns, part)
            self.assertLessEqual(account[part], ns + slack * MS * STEPS, part)
        for part in ("h2d_copy", "grad_sync", "validation", "sync_wait"):
            self.assertIsNone(account[part], part)

    def gpu(self, trace):
        gpu = trace.report("summary")["gpu_time"]
        self.assertIsNone(gpu["reason"])
        self.assertEqual(gpu["idle_ns"] + gpu["busy_ns"], self.wall(trace))
        return gpu

    def wall(self, trace):
        return trace.report("summary")["steps"]["wall_ns_total"]

    def assert_waits(self, said, gpu, slack_ms):
        lost = said["wait_ns"] - said["hidden_ns"]
        self.assertAlmostEqual(gpu["hidden_wait_ns"], said["hidden_ns"], delta=slack_ms * MS)
        # That of the first batch, when there is nothing to do yet, is not in what the script says.
        first = gpu["lost_wait_ns"] + gpu["hidden_wait_ns"] - said["wait_ns"]
        self.assertAlmostEqual(gpu["lost_wait_ns"] - first, lost, delta=slack_ms * MS)


class GpuTime(TimedCase):
    def test_all_waits_are_lost(self):
        said, trace = self.train(20, 6, 5, 4, "sync")
        self.assertEqual(said["hidden_ns"], 0)
        self.assert_parts(said, trace, 0.999, slack=8)
        gpu = self.gpu(trace)
        self.assert_waits(said, gpu, 10)
        self.assertLess(gpu["hidden_wait_ns"], 2 * MS)
        self.assertEqual((gpu["spans"], gpu["spans_given_up"]), (3 * STEPS, 0))
        self.assert_calls_by_part(trace)

    def assert_calls_by_part(self, trace):
        rows = {row["part"]: row for row in trace.report("cuda")["parts"]}
        for part in ("forward", "backward", "optimizer"):
            self.assertEqual(rows[part]["launches"], STEPS, part)
        self.assertEqual(rows["no_step"]["launches"], 0)
        self.assertEqual(sum(row["syncs"] for row in rows.values()), STEPS + 1)

    def test_all_waits_are_hidden(self):
        said, trace = self.train(5, 40, 30, 20)
        # The queue is never empty: what was launched first begins when that before it ends.
        self.assert_parts(said, trace, 0.999, slack=5)
        gpu = self.gpu(trace)
        self.assertGreater(gpu["hidden_wait_ns"], 0.9 * said["wait_ns"])
        self.assert_waits(said, gpu, 10)
        self.assertGreater(gpu["queued_mean_ns"], 50 * MS)

    def test_some_of_each_wait_is_hidden(self):
        said, trace = self.train(30, 8, 6, 4)
        self.assert_parts(said, trace, 0.999, slack=8)
        self.assert_waits(said, self.gpu(trace), 20)

    def test_nothing_is_touched_during_a_capture(self):
        said, trace = self.train(10, 6, 5, 4, "capture", "sync")
        gpu = self.gpu(trace)
        # A forward with a capture in it cannot be timed, and the report says so.
        self.assertGreaterEqual(gpu["spans_given_up"], STEPS)
        account = {row["part"]: row["gpu_ns"] for row in trace.report("summary")["account"]}
        for part in ("backward", "optimizer"):
            self.assertGreaterEqual(account[part], 0.999 * said["gpu_ns"][part])

    def test_modules(self):
        _, trace = self.train(5, 2, 2, 2, "modules", "sync", env={"STAGEPROF_MODULES": "3"})
        rows = {row["path"]: row for row in trace.report("modules")["modules"]}
        known = {"": 10, "stem": 3, "body": 5, "body.left": 4, "body.right": 1}
        self.assertEqual(set(rows), set(known))
        for path, ms in known.items():
            self.assertEqual(rows[path]["calls"], STEPS)
            self.assertGreaterEqual(rows[path]["gpu_ns"], 0.999 * ms * MS * STEPS, path)
            self.assertLessEqual(rows[path]["gpu_ns"], (ms + 1.5) * MS * STEPS, path)
        self.assertEqual(self.gpu(trace)["spans_given_up"], 0)

    def test_copies_that_wait(self):
        """Each waits for all of its step: the account, and what is given as the reason."""
        said, trace = self.train(1, 4, 3, 2, "item")
        rows = trace.report("cuda")["parts"]
        self.assertEqual(sum(row["blocking_copies"] for row in rows), STEPS)
        self.assertEqual(sum(row["syncs"] for row in rows), 1)
        summary = trace.report("summary")
        account = {row["part"]: row["ns"] for row in summary["account"]}
        # Each recorded copy holds the device's wait, and the trainer's timer holds the copy. The
        # last is after the last step.
        call_ns, waited_ns = (sum(ns) for ns in zip(*said["item_ns"][:-1]))
        self.assertGreater(waited_ns, 0)
        self.assertLessEqual(account["sync_wait"], call_ns)
        self.assertGreaterEqual(account["sync_wait"], waited_ns)
        known = {change["what_if"]: change for change in summary["what_if"]}
        self.assertIsNone(known["no_syncs"]["reason"])

    def test_switched_off_is_not_zero(self):
        _, trace = self.train(5, 2, 2, 2, "sync", env={"STAGEPROF_WITHOUT": "gpu_time"})
        report = trace.report("summary")
        self.assertEqual({row["gpu_ns"] for row in report["account"]}, {None})
        self.assertIsNone(report["gpu_time"]["busy_ns"])
        self.assertIn("no time on the device", report["gpu_time"]["reason"])
        for step in trace.report("steps")["steps"]:
            self.assertIsNone(step["gpu_busy_ns"])


class ContextsAndStreams(TimedCase):
    def test_backward_on_a_thread_of_its_own(self):
        said, trace = self.train(10, 6, 5, 4, "aside", "sync")
        self.assert_parts(said, trace, 0.999, slack=8)

    def test_two_devices(self):
        said, trace = self.train(10, 6, 5, 4, "devices", "sync", env={"FAKE_CUDA_DEVICES": "2"})
        self.assert_parts(said, trace, 0.999, slack=12)
        streams = trace.report("cuda")["streams"]
        busy = {row["device"]: row["busy_ns"] for row in streams}
        self.assertEqual(sorted(busy), [0, 1])
        self.assertGreaterEqual(busy[1], 0.999 * 6 * MS * STEPS)
        self.assertLessEqual(busy[1], 6 * MS * STEPS + 8 * MS * STEPS)

    def test_contexts_end_while_events_are_outstanding(self):
        """Open pairs are given up and counted; nothing is touched after its end (violations, in
        train)."""
        said, trace = self.train(10, 6, 5, 4, "reset", "release", "destroy", "fork", "sync")
        gpu = self.gpu(trace)
        # At most the three stages of the step in which a context ended, and the two of the one that
        # was destroyed.
        self.assertGreaterEqual(gpu["spans_given_up"], 3)
        self.assertLessEqual(gpu["spans_given_up"], 3 * 3 + 2)
        account = {row["part"]: row["gpu_ns"] for row in trace.report("summary")["account"]}
        for part, ns in said["gpu_ns"].items():
            self.assertGreaterEqual(account[part], 0.999 * ns * (STEPS - 3) / STEPS, part)
            self.assertLessEqual(account[part], ns + 8 * MS * STEPS, part)

    def test_the_driver_is_unloaded_while_events_are_outstanding(self):
        said, trace = self.train(10, 6, 5, 4, "unload", "sync", env={"FAKE_CUDA_UNLOADS": "1"})
        # The step that nobody waited for; those without CUDA have no work.
        self.assertEqual(
            {ns for ns in said["gpu_ns"].values()}, {(STEPS - 2) * ms * MS for ms in (6, 5, 4)}
        )
        given_up = self.gpu(trace)["spans_given_up"]
        self.assertGreaterEqual(given_up, 1)
        self.assertLessEqual(given_up, 3)
        account = {row["part"]: row["gpu_ns"] for row in trace.report("summary")["account"]}
        for part, ns in said["gpu_ns"].items():
            self.assertGreaterEqual(account[part], 0.999 * ns * (STEPS - 3) / (STEPS - 2), part)
            self.assertLessEqual(account[part], ns + 8 * MS * STEPS, part)
        told = [c["text"].split("\t") for c in trace.report("summary")["coverage"]]
        gone = [
            "cuda-gpu-time",
            "unobservable",
            "the driver was unloaded: what was under way on it is given up",
        ]
        self.assertIn(gone, told)

    def test_per_thread_streams_and_launches_that_fail(self):
        said, trace = self.train(10, 6, 5, 4, "per-thread", "failing", "sync")
        self.assert_parts(said, trace, 0.999, slack=8)
        stages, _ = trace.stages()
        launches = stages["cuda_launch"]
        self.assertEqual((launches["calls"], launches["errors"]), (3 * 2 * STEPS, 3 * STEPS))


if __name__ == "__main__":
    harness.main()
