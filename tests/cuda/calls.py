"""Own counts of CUDA calls against reported ones, by stage: calls and bytes, each counted once."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "exact"))

import harness
from harness import victim

STAGES = """
    cuda_launch cuda_graph_launch cuda_copy_h2d cuda_copy_d2h cuda_copy_d2d cuda_copy_other
    cuda_memset cuda_sync cuda_stream cuda_malloc cuda_free nccl
""".split()


class Case(harness.Case):
    """Runs on the device of tests/fake_cuda."""

    def run_both(self, *argv, env=None, **options):
        fake = harness.environment("STAGEPROF_TEST_FAKE")
        return self.both(*argv, env={"LD_LIBRARY_PATH": fake, **(env or {})}, **options)

    def assert_cuda(self, outcome):
        self.assert_exact(outcome, strict=harness.STRICT + STAGES)
        stages, _ = outcome.trace.stages()
        counted = harness.bounds(outcome.rows(), lambda row: row.stage)
        for name in STAGES:
            if name in counted and name in stages and stages[name]["bytes"] is not None:
                self.assertEqual(counted[name].bytes, stages[name]["bytes"], f"{name}: bytes")

    def exact(self, *argv, **options):
        outcome = self.run_both(*argv, **options)
        self.assert_cuda(outcome)
        return outcome


class Runtime(Case):
    def test_every_form_cuda_13(self):
        self.exact(victim("cuda_calls13"), "1", "20")

    def test_every_form_cuda_12(self):
        self.exact(victim("cuda_calls12"), "1", "20")

    def test_eight_threads(self):
        self.exact(victim("cuda_calls13"), "8", "10")

    def test_no_device(self):
        outcome = self.run_both(victim("cuda_calls13"), env={"FAKE_CUDA_DEVICES": "0"})
        self.assertNotEqual(outcome.done.returncode, 0)


if __name__ == "__main__":
    harness.main()
