# SPDX-License-Identifier: Apache-2.0
"""The summary in JSON lists the end of each process: its price grows as the processes do. `hang`
matches the ranks of a large job in bounded memory, by their traces and by a digest.

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
RANKS = 10_000 if "--nightly" in sys.argv else 1024
MISSING, MIB, SECONDS, TAIL_BYTES = (37, 102), 256, 5, 4096


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

    def hung(self, run):
        os.mkdir(run)
        missing = (f"missing={rank}" for rank in MISSING)
        subprocess.run([MAKE_JOB, run, str(RANKS), "8", *missing], check=True)

    def check_hang(self, run):
        child = subprocess.Popen([REPORT, "hang", "--format=json", run], stdout=subprocess.PIPE)
        found = json.load(child.stdout)
        child.stdout.close()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0)
        self.assertEqual(
            [(row["ranks"], row["rank_count"], row["state"]) for row in found["ranks"]],
            [
                ("37, 102", 2, "missing"),
                (f"0-36, 38-101, 103-{RANKS - 1}", RANKS - 2, "waits"),
            ],
        )
        self.assertIn("rank 37 (pid 1037) is inside open", found["ranks"][0]["inside"])
        seconds = usage.ru_utime + usage.ru_stime
        print(f"{run}: {seconds:.2f} s of processor time, {usage.ru_maxrss // 1024} MiB")
        self.assertLess(usage.ru_maxrss / 1024, MIB)
        return seconds

    def test_many_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            run, digest = os.path.join(folder, "job.zst"), os.path.join(folder, "job.spd")
            self.hung(run)
            self.check_hang(run)
            subprocess.run([REPORT, "digest", "--quiet", run, "-o", digest], check=True)
            self.assertLess(os.path.getsize(digest), RANKS * TAIL_BYTES)
            self.assertLess(self.check_hang(digest), SECONDS)


if __name__ == "__main__":
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
