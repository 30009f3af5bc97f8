# SPDX-License-Identifier: Apache-2.0
"""mapped.py SCRIPT CASE...: the cases of another test, with files that are mapped."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

os.environ["STAGEPROF_TEST_MODE"] = "map"
script = os.path.join(ROOT, sys.argv[1])
os.execv(sys.executable, [sys.executable, script] + sys.argv[2:])
