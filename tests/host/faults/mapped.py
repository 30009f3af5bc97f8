# SPDX-License-Identifier: Apache-2.0
"""mapped.py SCRIPT CASE...: the cases of another test, with files that are mapped. Races are run a
third as often as in that test; the night runs them as often."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

os.environ["STAGEPROF_TEST_MODE"] = "map"
os.environ.setdefault("STAGEPROF_TEST_REPEATS", "15")
script = os.path.join(ROOT, sys.argv[1])
os.execv(sys.executable, [sys.executable, script] + sys.argv[2:])
