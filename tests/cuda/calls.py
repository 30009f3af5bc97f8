"""Own counts of CUDA calls against reported ones, by stage: calls and bytes, each counted once."""

import os
import subprocess
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

    def test_calls_that_are_left(self):
        outcome = self.run_both(victim("leaving"), "200")
        rows = outcome.rows()
        stages, _ = outcome.trace.stages()
        self.assert_stages(rows, stages, "run", strict=STAGES)
        # A launch left by longjmp leaves no event; that of a thread that ends in it is abandoned.
        self.assertEqual(
            stages["cuda_launch"]["calls"],
            sum(row.calls for row in rows if row.stage == "cuda_launch") + 4,
        )
        self.assertEqual(stages["cuda_launch"]["aborted"], 4)

    def test_two_runtimes_that_come_and_go(self):
        self.exact(victim("two_runtimes"), "20")

    def test_nccl(self):
        self.exact(victim("collectives"), "20")


class Driver(Case):
    def test_dlsym_and_get_proc_address(self):
        self.exact(victim("driver_calls"), "10")

    def test_lookups_mean_what_they_meant(self):
        self.assertEqual(self.run_both(victim("lookups")).done.returncode, 0)

    def test_lookups_under_a_sanitizer(self):
        name = [os.environ["CC"], "-print-file-name=libasan.so"]
        sanitizer = subprocess.run(name, stdout=subprocess.PIPE).stdout.decode().strip()
        if not os.path.isabs(sanitizer):
            self.skipTest("the compiler has no shared libasan")
        both = sanitizer + " " + harness.environment("STAGEPROF_TEST_LIB")
        self.run_both(victim("lookups_sanitized"), env={"LD_PRELOAD": both})


if __name__ == "__main__":
    harness.main()
