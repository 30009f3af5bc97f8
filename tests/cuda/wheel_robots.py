# SPDX-License-Identifier: Apache-2.0
"""lerobot's trainer on the bed (tests/cuda/wheel/robots.py): the report against the accounts of the
bed and of the trainer."""

import subprocess

from bed_case import BedCase, PYTHON
import harness

STEPS = 8  # of robots.py
FIND = "import importlib.util, sys; sys.exit(not importlib.util.find_spec('lerobot'))"


class Robots(BedCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if subprocess.run([PYTHON, "-c", FIND]).returncode:
            raise harness.unittest.SkipTest("no lerobot in the Python with PyTorch's CUDA wheel")

    def test_act(self):
        env = {"STAGEPROF_CUPTI": "1", "HF_HUB_OFFLINE": "1"}
        trace, truth = self.train("robots.py", "act", env=env)
        self.assert_counts(trace, truth)
        self.assert_phases(self.assert_gpu_time(trace, truth), truth.gpu_ns())
        self.assertEqual(trace.report("summary")["steps"]["count"], STEPS)


if __name__ == "__main__":
    harness.main()
