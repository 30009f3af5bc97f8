# SPDX-License-Identifier: Apache-2.0
"""Trainings whose whole step is one CUDA graph: steps, and the GPU's time, from the launches of the
graph."""

import os
import subprocess

from calls import Case
import harness
from harness import victim

HERE = os.path.dirname(os.path.abspath(__file__))
INSIDE = ("forward", "backward", "optimizer", "zero_grad")
MS = 1_000_000


class Graphs(Case):
    def run_traced(self, *argv):
        fake = harness.environment("STAGEPROF_TEST_FAKE")
        environment = {"LD_LIBRARY_PATH": f"{fake}:{fake}/13", "FAKE_CUDA_STRICT": "1"}
        outcome = self.execute(list(map(str, argv)), self.subfolder("run"), env=environment)
        self.assertEqual(outcome.done.returncode, 0, outcome.done.stderr)
        self.assert_valid(outcome.trace)
        return int(outcome.done.stdout), outcome.trace.report("summary"), outcome.trace

    def train(self, *arguments):
        trainer = os.path.join(HERE, "graph_trainer.py")
        return self.run_traced(os.environ["STAGEPROF_TEST_PYTHON"], trainer, *arguments)

    def assert_busy(self, summary, ns, steps):
        """All work but the last, which nobody asks for any more; a copy goes before each."""
        gpu = summary["gpu_time"]
        self.assertIsNone(gpu["reason"])
        self.assertGreaterEqual(gpu["busy_ns"], 0.999 * ns * (steps - 2) / steps)
        self.assertLessEqual(gpu["busy_ns"], ns + 2 * MS * steps)

    def assert_named_graphs(self, summary, account, ns, replays):
        """The row other has the time of all graphs but the last."""
        in_graphs = summary["gpu_time"]["graph_ns"]
        self.assertGreaterEqual(in_graphs, 0.999 * ns * (replays - 2) / replays)
        self.assertLessEqual(in_graphs, min(account["other"]["gpu_ns"], ns + 2 * MS * replays))

    def text(self, trace, view):
        command = [harness.environment("STAGEPROF_TEST_REPORT"), view, trace.path]
        return subprocess.run(
            command, stdout=subprocess.PIPE, check=True, timeout=60
        ).stdout.decode()

    def assert_not_idle(self, summary, trace, ns):
        """A copy goes between two graphs, so the report calls no time between graphs idle."""
        gpu = summary["gpu_time"]
        self.assertIsNone(gpu["idle_ns"])
        self.assertGreaterEqual(gpu["not_in_graph_ns"], ns)
        self.assertEqual(gpu["not_in_graph_ns"] + gpu["busy_ns"], summary["steps"]["wall_ns_total"])
        self.assertEqual({step["gpu_idle_ns"] for step in trace.report("steps")["steps"]}, {None})
        for view in ("summary", "cuda"):
            told = self.text(trace, view)
            self.assertIn("between graphs are not timed: in no graph is not idle", told, view)
            self.assertNotRegex(told, "GPU +busy|nothing ran", view)

    def assert_named(self, summary):
        told = [line["text"].split("\t") for line in summary["coverage"]]
        self.assertIn(["cuda-graphs", "unobservable"], [line[:2] for line in told])

    def test_a_step_in_c(self):
        steps, kernel_ms, input_ms = 20, 2, 5
        ns, summary, trace = self.run_traced(victim("graph_steps"), steps, kernel_ms, input_ms)
        self.assertEqual(
            (summary["steps"]["count"], summary["steps"]["end_with"]), (steps, "graph")
        )
        self.assertGreaterEqual(summary["steps"]["wall_ns_p50"], (3 * kernel_ms + input_ms) * MS)
        self.assertLess(summary["steps"]["wall_ns_p50"], 2 * (3 * kernel_ms + input_ms) * MS)
        for step in trace.report("steps")["steps"]:
            self.assertGreaterEqual(step["wall_ns"], input_ms * MS, step["index"])
        account = {row["part"]: row for row in summary["account"]}
        for part in INSIDE:
            self.assertIsNone(account[part]["ns"], part)
            self.assertIn("inside a CUDA graph", account[part]["reason"], part)
        self.assertGreaterEqual(account["sync_wait"]["ns"], 0.9 * ns * (steps - 1) / steps)
        self.assert_busy(summary, ns, steps)
        self.assert_named_graphs(summary, account, ns, steps)
        self.assert_not_idle(summary, trace, 0.8 * (steps - 2) * input_ms * MS)
        self.assert_named(summary)
        stages, _ = trace.stages()
        self.assertEqual(stages["cuda_graph_launch"]["calls"], steps)

    def test_a_graph_that_is_no_step(self):
        """Without steps the process has one row: the graph, and the kernels that were captured for
        it."""
        _, summary, trace = self.run_traced(victim("graph_steps"), 1, 2, 1)
        self.assertEqual(summary["steps"]["count"], 0)
        told = trace.report("cuda")
        [row] = told["parts"]
        self.assertEqual(
            [
                row[key]
                for key in (
                    "part",
                    "launches",
                    "copies",
                    "bytes",
                    "syncs",
                    "blocking_copies",
                    "gpu_ns",
                )
            ],
            ["whole_run", 1 + 3, 1, 4096, 1, 0, None],
        )
        [memory] = told["memory"]
        self.assertEqual((memory["end_bytes"], memory["peak_bytes"]), (4096, 4096))
        self.assertEqual(
            [(stall["event"], stall["calls"]) for stall in told["allocations"]], [("cudaMalloc", 1)]
        )

    def test_a_step_of_pytorch(self):
        eager, replays = 3, 20
        ns, summary, _ = self.train(eager, replays, 4, 10)
        # The captured step makes none of its own: its batch is the first replay's.
        self.assertEqual(
            (summary["steps"]["count"], summary["steps"]["end_with"]), (eager + replays, "graph")
        )
        account = {row["part"]: row for row in summary["account"]}
        self.assertGreaterEqual(account["loader_wait"]["ns"], (eager + replays - 1) * 10 * MS)
        self.assert_busy(summary, ns + eager * 2 * 4 * MS, eager + replays)
        self.assert_named_graphs(summary, account, ns, replays)
        self.assert_named(summary)

    def test_warm_ups_on_one_batch_are_no_steps(self):
        replays = 20
        _, summary, trace = self.train(3, replays, 1, 2, "static")
        self.assertEqual(
            (summary["steps"]["count"], summary["steps"]["end_with"]), (replays, "graph")
        )
        account = {row["part"]: row for row in summary["account"]}
        self.assertIsNone(account["backward"]["ns"])
        rows = {row["part"]: row for row in trace.report("cuda")["parts"]}
        self.assertEqual(rows["other"]["launches"], replays)

    def test_graphs_are_parts_of_steps(self):
        eager, replays = 2, 10
        _, summary, _ = self.train(eager, replays, 2, 5, "eager")
        self.assertLess(summary["gpu_time"]["graph_ns"], summary["gpu_time"]["busy_ns"])
        self.assertEqual(
            (summary["steps"]["count"], summary["steps"]["end_with"]),
            (eager + replays, "optimizer"),
        )


if __name__ == "__main__":
    harness.main()
