# SPDX-License-Identifier: Apache-2.0
"""scripts/gpu-check from end to end, with PyTorch's own CUDA wheel and its torch.profiler, on the
device that is not there (tests/cuda/wheel). On a machine with a GPU only the numbers are new."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "wheel"))

import bed

PYTHON = os.environ.get("STAGEPROF_TEST_CUDA_PYTHON", "")
CHECK = os.path.join(HERE, "..", "..", "..", "scripts", "gpu-check")
STEPS, ROUNDS = 6, 1
SIZES = ["--warmup=2", "--batch=2", f"--steps={STEPS}", "--timed-steps=10", f"--pairs={ROUNDS}"]
MODES = ["eager", "graph", "amp", "compile"]
# The bed decides no price, and has none of the private tables that NVIDIA's own runtime asks for.
OPEN = r"cost \((total|events)\): 1 rounds are too few|program with the \w+ runtime not checked"


def imports(module):
    done = subprocess.run([PYTHON, "-c", f"import {module}"], stderr=subprocess.DEVNULL)
    return done.returncode == 0


@unittest.skipUnless(os.access(PYTHON, os.X_OK), "no Python with PyTorch's CUDA wheel")
class OnBed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.libraries = os.environ["STAGEPROF_TEST_BED"]
        bed.prepare(PYTHON, cls.libraries)

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="stageprof-bed-")
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def check(self, status, *options, **env):
        path = os.path.join(self.folder, "out.json")
        env = {
            **os.environ,
            "PYTHON": PYTHON,
            "LD_LIBRARY_PATH": self.libraries,
            "OMP_NUM_THREADS": "1",
            "SIM_KERNEL_NS": "100000",  # longer than a launch takes here: the device is busy
            # The bed's cuDNN has no plan for attention, which PyTorch asks first.
            "TORCH_CUDNN_SDPA_DEPRIORITIZED": "1",
            "TRITON_CACHE_DIR": os.path.join(self.folder, "triton"),
            "TORCHINDUCTOR_CACHE_DIR": os.path.join(self.folder, "inductor"),
            **env,
        }
        done = subprocess.run(
            [CHECK, f"--output={path}", *SIZES, *options],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=1700,
        )
        self.assertEqual(done.returncode, status, done.stderr.decode()[-3000:])
        with open(path) as file:
            return json.load(file)

    def test_from_end_to_end(self):
        modes = [mode for mode in MODES if mode != "compile" or imports("triton")]
        names = [f"{workload}/{mode}" for mode in modes for workload in ("resnet", "transformer")]
        answer = self.check(3, *(f"--only={name}" for name in names))
        self.assertEqual((answer["broken"], answer["not_reached"]), ([], []))
        self.assertEqual([line for line in answer["undecided"] if not re.search(OPEN, line)], [])
        self.assertEqual(list(answer["workloads"]), names)
        for name, done in answer["workloads"].items():
            with self.subTest(name):
                self.assert_compared(name, done["compared"])
                self.assert_cupti(done["cupti"])
        for name in ("resnet/eager", "transformer/eager", "resnet/graph"):
            self.assertEqual(answer["workloads"][name]["overhead"]["rounds"], ROUNDS)

    def assert_compared(self, name, compared):
        """Both sides saw each call of these steps."""
        calls = compared["calls"]
        for group, row in calls.items():
            self.assertEqual(row["stageprof"], row["profiler"], group)
        wanted = "graph_launches" if name.endswith("/graph") else "launches"
        self.assertGreaterEqual(calls[wanted]["profiler"], STEPS)
        self.assertGreaterEqual(calls["copies"]["profiler"], 2 * STEPS)
        self.assertGreater(compared["gpu_time"]["stageprof_ns"], 0)
        self.assertEqual(compared["events_lost"], 0)

    def assert_cupti(self, cupti):
        self.assertGreater(cupti["profiler"]["calls"], 0)
        self.assertEqual((cupti["calls_ratio"], cupti["beside_ratio"]), (1, 1))
        gave_way = " ".join(word for line in cupti["gave_way"] for word in line)
        self.assertIn("used CUPTI itself", gave_way)

    def test_a_profiler_that_loses_records(self):
        answer = self.check(1, "--only=resnet/eager", FAKE_CUPTI_DROP="1")
        for group in ("launches", "copies", "waits"):
            told = f"resnet/eager: no {group} in torch.profiler's trace"
            self.assertIn(told, " ".join(answer["broken"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
