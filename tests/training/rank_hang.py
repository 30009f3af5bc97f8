# SPDX-License-Identifier: Apache-2.0
"""Ranks over gloo that stand still and are killed, all at once, from plain LD_PRELOAD: the report
says which ranks wait in which collective, and which never came to it and what they were in."""

import contextlib
import glob
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import training

PROGRAM = os.path.join(training.HERE, "rank_hang_program.py")
PYTHON = training.interpreter("torch.distributed")
HANG_S, AFTER_SIGNAL_S = 8, 2
# case -> how often `ready` comes; (ranks, state, operation or None) of each row; a part of the
# verdict
CASES = {
    "loader": (
        1,
        [("2", "missing", "all_reduce"), ("0, 1", "waits", "all_reduce")],
        "worker 0 is inside open",
    ),
    "file": (
        1,
        [("1", "missing", "all_reduce"), ("0, 2", "waits", "all_reduce")],
        "rank 1 is inside open",
    ),
    # As above, and each rank had been in a group of the same name, and calls one collective more,
    # which the backend makes of others.
    "again": (
        1,
        [("1", "missing", "all_reduce"), ("0, 2", "waits", "all_reduce")],
        "rank 1 is inside open",
    ),
    # By Ctrl-C, after which the ranks fail one by one.
    "interrupted": (
        1,
        [("1", "missing", "all_reduce"), ("0, 2", "waits", "all_reduce")],
        "rank 1 is inside open",
    ),
    "save": (
        1,
        [("0", "missing", "all_reduce"), ("1, 2", "waits", "all_reduce")],
        "rank 0 is inside open",
    ),
    "stopped": (1, [("2", "missing", "all_reduce"), ("0, 1", "waits", "all_reduce")], "rank 2"),
    "operation": (
        3,
        [("1", "differs", "broadcast"), ("0, 2", "waits", "all_reduce")],
        "rank 1 called broadcast",
    ),
    "size": (3, [("1", "differs", "all_reduce")], "rank 1 called all_reduce"),
    "left": (1, [("0", "differs", "barrier")], "rank 0 called barrier"),
    "order": (
        3,
        [
            ("0", "in_another_group", "all_reduce"),
            ("1", "in_another_group", "all_reduce"),
            ("2", "apart", "all_reduce"),
        ],
        "the groups wait for each other",
    ),
}


def begin(case, folder):
    return subprocess.Popen(
        [PYTHON, PROGRAM, case, folder],
        cwd=folder,
        env=training.environment(True, os.path.join(folder, "run.zst"), {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def plain(text):
    """Without pids, which differ from run to run."""
    words = text.split()
    return " ".join(
        w for i, w in enumerate(words) if w != "(pid" and (i == 0 or words[i - 1] != "(pid")
    )


class RankHang(unittest.TestCase):
    maxDiff = None

    def test_each(self):
        with tempfile.TemporaryDirectory() as base:
            folders = {case: os.path.join(base, case) for case in CASES}
            for folder in folders.values():
                os.mkdir(folder)
            programs = {case: begin(case, folder) for case, folder in folders.items()}
            try:
                for case, program in programs.items():
                    for _ in range(CASES[case][0]):
                        self.assertEqual(program.stdout.readline(), b"ready\n", case)
                time.sleep(HANG_S)
                os.killpg(programs["interrupted"].pid, signal.SIGINT)
                programs["interrupted"].wait(60)
                time.sleep(AFTER_SIGNAL_S)
            finally:
                for program in programs.values():
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(program.pid, signal.SIGKILL)
                    program.wait()
                    program.stdout.close()
            runs = {case: os.path.join(folder, "run.zst") for case, folder in folders.items()}
            for case in CASES:
                with self.subTest(case):
                    self.check(case, runs[case])
            self.assertEqual(self.ordinal(runs["file"]) + 1, self.ordinal(runs["again"]))
            self.check_without_culprit(runs["file"])

    def check(self, case, run):
        _, rows, part = CASES[case]
        hang = training.report("hang", run)
        summary = training.report("summary", run)
        found = {(r["ranks"], r["state"], r["operation"]): r for r in hang["ranks"]}
        for row in rows:
            self.assertIn(row, found)
            self.assertEqual(found[row]["element_type"], None if row[2] == "barrier" else "float32")
        self.assertEqual(summary["verdict"]["code"], "hung")
        self.assertIn(part, plain(summary["verdict"]["text"]))

    def ordinal(self, run):
        rows = training.report("hang", run)["ranks"]
        return next(r["ordinal"] for r in rows if r["state"] == "missing")

    def check_without_culprit(self, run):
        """Where the files of the rank that never came are not in the run, nobody is accused."""
        row = training.report("hang", run)["ranks"]
        pid = next(r["inside"] for r in row if r["state"] == "missing").split("(pid ")[1]
        for path in glob.glob(os.path.join(run, f"*-{pid.split(')')[0]}-*")):
            os.unlink(path)
        rows = training.report("hang", run)["ranks"]
        self.assertEqual([(r["ranks"], r["state"]) for r in rows], [("0, 2", "waits")])
        text = training.report("summary", run)["verdict"]["text"]
        self.assertIn("only 2 of the 3 ranks of group 0 default_pg are in this run", text)
        self.assertNotIn("never came", text)


if __name__ == "__main__":
    unittest.main()
