# SPDX-License-Identifier: Apache-2.0
"""Programs that nvcc built against the real runtime, shared and static, on a machine without a
device: results unchanged; the shared runtime's calls are seen, errors and all. Where a device is at
hand the same holds with other results."""

import os

from calls import Case
import harness
from harness import victim

CALLS = {
    "cuda_launch": 5,
    "cuda_copy_h2d": 1,
    "cuda_copy_d2h": 1,
    "cuda_memset": 1,
    "cuda_sync": 2,
    "cuda_malloc": 2,
    "cuda_free": 2,
}


class Real(Case):
    def run_real(self, name, driver=""):
        env = {"LD_LIBRARY_PATH": os.pathsep.join([os.environ["STAGEPROF_TEST_CUDA"], driver])}
        return self.both(victim(name), env=env, name=name)

    def test_shared_runtime(self):
        outcome = self.run_real("real_shared")
        self.assertIn(b"cudaMalloc", outcome.done.stdout)
        self.assert_valid(outcome.trace)
        stages, _ = outcome.trace.stages()
        self.assertEqual({name: stages[name]["calls"] for name in CALLS}, CALLS)

    def test_cupti_is_asked_for_and_cuda_cannot_begin(self):
        libraries = os.environ["STAGEPROF_TEST_CUDA"]
        env = {"LD_LIBRARY_PATH": libraries, "STAGEPROF_CUPTI": "1"}
        outcome = self.both(victim("real_shared"), env=env, name="real_shared")
        told = [c["text"].split("\t") for c in outcome.trace.report("summary")["coverage"]]
        self.assertIn(["cupti", "absent", "CUDA was not initialised in this process"], told)

    def test_static_runtime(self):
        self.run_real("real_static")

    def test_a_driver_that_knows_little(self):
        """The real runtime asks the driver of tests/cuda/fake for functions that it has not."""
        fake = harness.environment("STAGEPROF_TEST_FAKE")
        for name in ("real_shared", "real_static"):
            with self.subTest(program=name):
                self.run_real(name, driver=fake)


if __name__ == "__main__":
    harness.main()
