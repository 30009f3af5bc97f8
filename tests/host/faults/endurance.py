# SPDX-License-Identifier: Apache-2.0
"""The endurance run of the bench, a tenth of its length."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
endurance = os.path.join(ROOT, "tests", "bench", "endurance")
size = ["--events", "100000000", "--epochs", "2000"]
build = ["--build", os.environ["SP_BUILD"]]

os.execv(sys.executable, [sys.executable, endurance, *size, *build])
