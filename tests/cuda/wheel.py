# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own CUDA wheel on a device that is not there (tests/cuda/wheel): the bed counts each
call and each piece of work by itself, and the report has to agree."""

import collections
import os

from bed_case import BedCase, STAGE_CALLS
import harness

STEPS = 10  # of features.py
SLOW_NS, FAST_NS = 300_000, 1_000  # a kernel; the host launches one in some 10 µs


class Wheel(BedCase):
    def test_features(self):
        names = self.listed("features.py")
        self.assertGreaterEqual(len(names), 30)
        for name in names:
            with self.subTest(feature=name):
                trace, truth = self.train("features.py", name)
                self.assertGreater(truth.count(STAGE_CALLS["cuda_launch"]), 0)
                self.assert_counts(trace, truth)
                self.assertEqual(trace.report("summary")["steps"]["count"], STEPS)

    def test_gpu_time_by_phase(self):
        """By CUPTI's records, each phase within 1% of the bed's clock; the stretches between
        events on the streams hold gaps between kernels, and are at least as long."""
        for name in self.listed("features.py"):
            with self.subTest(feature=name):
                trace, truth = self.train("features.py", name, env={"STAGEPROF_CUPTI": "1"})
                self.assert_counts(trace, truth)
                rows = self.assert_gpu_time(trace, truth)
                self.assert_near(trace.report("summary")["gpu"]["busy_ns"], truth.union_ns())
                if name != "cuda_graph":  # its step is one call, without phases
                    self.assert_phases(rows, truth.gpu_ns())
                    self.assert_stretches(trace, truth.gpu_ns())

    def test_two_ranks(self):
        """Collectives move data between two processes on the bed (ranks.py holds a sum)."""
        for kind in ("ddp", "fsdp"):
            with self.subTest(kind):
                trace, truth = self.train("ranks.py", kind, env={"STAGEPROF_CUPTI": "1"}, ranks=2)
                self.assert_counts(trace, truth)
                self.assert_collectives(trace, truth)
                self.assert_gpu_time(trace, truth)
                self.assertEqual(trace.report("summary")["steps"]["count"], 2 * STEPS)

    def assert_stretches(self, trace, gpu_ns):
        stretches = {row["part"]: row["gpu_ns"] for row in trace.report("cuda")["parts"]}
        for part in ("forward", "backward", "optimizer"):
            self.assertGreaterEqual(stretches[part], gpu_ns[part] * 0.99, part)
            figures = [ns / 1e6 for ns in (gpu_ns[part], stretches[part])]
            print("%s of %s: work %.3f ms, stretches %.3f ms" % (part, trace.path, *figures))

    def verdict(self, name, *, kernel_ns, env=None):
        trace, truth = self.train("planted.py", name, kernel_ns, env)
        self.assert_counts(trace, truth)
        summary = trace.report("summary")
        return summary["verdict"]["code"], summary["verdict"]["confidence"], trace

    def assert_verdict(self, right, name, **options):
        """The right verdict, or one that does not claim to be sure."""
        code, confidence, _ = self.verdict(name, **options)
        if code not in right:
            self.assertEqual(confidence, "low", f"{name}: {code}")

    def test_planted(self):
        self.assert_verdict(["launch-bound"], "resident", kernel_ns=FAST_NS)
        self.assert_verdict(["compute-bound"], "resident", kernel_ns=SLOW_NS)
        self.assert_verdict(["loader-bound", "input-bound"], "slow_loader", kernel_ns=FAST_NS)

    def test_setup_is_no_idleness(self):
        code, _, _ = self.verdict("long_setup", kernel_ns=SLOW_NS)
        self.assertNotEqual(code, "sync-bound")

    def test_replays_are_steps(self):
        trace, truth = self.train("planted.py", "graph_replays")
        self.assert_counts(trace, truth)
        self.assertEqual(trace.report("summary")["steps"]["count"], 30)

    def test_phases_without_gpu_time(self):
        """Forward's launches are forward's, whether or not the device's time is recorded."""
        trace, truth = self.train("planted.py", "zeroed_late")
        recorded = {row["part"]: row["launches"] for row in trace.report("cuda")["parts"]}
        self.assertGreater(recorded["forward"], 0)
        self.assertEqual(sum(recorded.values()), truth.count(STAGE_CALLS["cuda_launch"]))
        trace, _ = self.train("planted.py", "zeroed_late", env={"STAGEPROF_GPUTIME": "0"})
        plain = {row["part"]: row["launches"] for row in trace.report("cuda")["parts"]}
        self.assertEqual(recorded["forward"], plain["forward"])
        self.assertEqual(recorded["backward"], plain["backward"])


if __name__ == "__main__":
    harness.main()
