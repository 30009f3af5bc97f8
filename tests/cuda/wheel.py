# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own CUDA wheel on a device that is not there (tests/cuda/wheel): the bed counts each
call and each piece of work by itself, and the report has to agree."""

from bed_case import BedCase, STAGE_CALLS
import harness

STEPS = 10  # of features.py


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


if __name__ == "__main__":
    harness.main()
