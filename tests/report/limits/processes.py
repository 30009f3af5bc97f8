# SPDX-License-Identifier: Apache-2.0
"""The summary in JSON lists the end of each process: its price grows as the processes do.

Instructions are callgrind's. Those of the text summary are subtracted, which has no list. Twice
the processes cost the list twice as many instructions, and a search of all for each four times.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

MAKE_JOB = os.environ["STAGEPROF_TEST_MAKE_JOB"]
REPORT = os.environ["STAGEPROF_TEST_REPORT"]
FEW = 300
MOST = 2.5  # times as many instructions for twice the processes


def instructions(run, form):
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={run}.{form}"]
        + [REPORT, "summary", "--jobs=1", f"--format={form}", run],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


class Processes(unittest.TestCase):
    def test_ends(self):
        lists = []
        with tempfile.TemporaryDirectory() as folder:
            for count in (FEW, 2 * FEW):
                run = os.path.join(folder, f"{count}.zst")
                os.mkdir(run)
                subprocess.run([MAKE_JOB, run, str(count), "2", "no-collectives"], check=True)
                lists.append(instructions(run, "json") - instructions(run, "table"))
        print(f"the list of {FEW} processes: {lists[0]}, of twice as many: {lists[1]}")
        self.assertGreater(lists[0], 0)
        self.assertLess(lists[1], MOST * lists[0])


if __name__ == "__main__":
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        sys.exit(77)
    unittest.main()
