# SPDX-License-Identifier: Apache-2.0
"""written.py SCRIPT CASE...: the cases of another test, with files that are written, not mapped."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

os.environ["STAGEPROF_TEST_MODE"] = "write"
script = os.path.join(ROOT, sys.argv[1])
os.execv(sys.executable, [sys.executable, script] + sys.argv[2:])
