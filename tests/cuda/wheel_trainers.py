# SPDX-License-Identifier: Apache-2.0
"""Trainers of PyPI's packages, as they are, on the bed (tests/cuda/wheel/trainers.py): the report
against the accounts of the bed and of the trainer."""

import os
import subprocess

from bed_case import BedCase, PYTHON
import harness

ENVIRONMENT = {
    "STAGEPROF_CUPTI": "1",
    # The bed's cuDNN has no plan for attention, which PyTorch asks first.
    "TORCH_CUDNN_SDPA_DEPRIORITIZED": "1",
    "HF_HUB_OFFLINE": "1",
}
FIND = "import importlib.util, sys; sys.exit(not importlib.util.find_spec('timm'))"


class Trainers(BedCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if subprocess.run([PYTHON, "-c", FIND]).returncode:
            raise harness.unittest.SkipTest("no trainers in the Python with PyTorch's CUDA wheel")

    def run_one(self, name, ranks):
        caches = self.subfolder(name + "-caches")
        env = {
            **ENVIRONMENT,
            "TRITON_CACHE_DIR": os.path.join(caches, "triton"),
            "TORCHINDUCTOR_CACHE_DIR": os.path.join(caches, "inductor"),
        }
        return self.train("trainers.py", name, env=env, ranks=0 if ranks == 1 else ranks)

    def assert_memory(self, trace, truth):
        """PyTorch's allocator says what it holds at each step's end, and at most in the step."""
        rows = trace.report("cuda")["memory_steps"]
        for pid, process in truth.processes.items():
            own = [(row["end_bytes"], row["peak_bytes"]) for row in rows if row["pid"] == pid]
            self.assertEqual([end for end, _ in own], [end for end, _ in process.memory])
            # PyTorch's first maximum counts from the process's begin, not from the step's.
            peaks = [peak for _, peak in process.memory]
            self.assertEqual([peak for _, peak in own[1:]], peaks[1:])

    def test_trainers(self):
        lines = [line.split() for line in self.listed("trainers.py")]
        self.assertGreaterEqual(len(lines), 14)
        for name, steps, ranks in lines:
            with self.subTest(trainer=name):
                self.assert_trainer(name, int(steps), int(ranks))

    def assert_trainer(self, name, steps, ranks):
        trace, truth = self.run_one(name, ranks)
        with self.subTest("counts", trainer=name):
            self.assert_counts(trace, truth)
            self.assert_collectives(trace, truth)
        with self.subTest("time", trainer=name):
            rows = self.assert_gpu_time(trace, truth)
            self.assert_phases(rows, truth.gpu_ns())
        with self.subTest("steps", trainer=name):
            self.assertEqual(trace.report("summary")["steps"]["count"], steps * ranks)
        with self.subTest("memory", trainer=name):
            noted = sum(len(process.memory) for process in truth.processes.values())
            self.assertEqual(noted, steps * ranks)
            self.assert_memory(trace, truth)


if __name__ == "__main__":
    harness.main()
