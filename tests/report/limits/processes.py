# SPDX-License-Identifier: Apache-2.0
"""The summary in JSON lists the end of each process: its price grows as the processes do. `hang`
matches the ranks of a large job in bounded memory.

Instructions are callgrind's. Those of the text summary are subtracted, which has no list. Twice
the processes cost the list twice as many instructions, and a search of all for each four times.
"""

import json
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
RANKS, MISSING, MIB = 1024, (37, 102), 256


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

    def hung(self, run, count):
        os.mkdir(run)
        missing = (f"missing={rank}" for rank in MISSING)
        subprocess.run([MAKE_JOB, run, str(count), "8", *missing], check=True)

    def test_many_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "job.zst")
            self.hung(run, RANKS)
            child = subprocess.Popen([REPORT, "hang", "--format=json", run], stdout=subprocess.PIPE)
            found = json.load(child.stdout)
            child.stdout.close()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0)
        self.assertEqual(
            [(row["ranks"], row["rank_count"], row["state"]) for row in found["ranks"]],
            [("37, 102", 2, "missing"), ("0-36, 38-101, 103-1023", RANKS - 2, "waits")],
        )
        self.assertIn("rank 37 (pid 1037) is inside open", found["ranks"][0]["inside"])
        self.assertLess(usage.ru_maxrss / 1024, MIB)


if __name__ == "__main__":
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        sys.exit(77)
    unittest.main()
