# SPDX-License-Identifier: Apache-2.0
"""Ranks over NCCL that stand still and are killed, all at once, from plain LD_PRELOAD: the report
says which ranks wait in which collective of which communicator, and which never came to it. No
label names a communicator; the device's NCCL is tests/cuda/fake/fake_nccl.c."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "training"))

import training

PROGRAM = os.path.join(HERE, "nccl_hang_program.py")
LIBRARY = os.path.join(os.environ["STAGEPROF_TEST_VICTIMS"], "libnccl_rank.so")
PYTHON = training.interpreter("torch")
HANG_S = 8
# case -> how often `ready` comes; (ranks, state, operation, elements) of each row
CASES = {
    "loader": (1, [("2", "missing", "all_reduce", 100), ("0, 1", "waits", "all_reduce", 100)]),
    "file": (1, [("1", "missing", "all_reduce", 100), ("0, 2", "waits", "all_reduce", 100)]),
    # Three more are enqueued after the one that waits.
    "ahead": (1, [("1", "missing", "all_reduce", 100), ("0, 2", "waits", "all_reduce", 100)]),
    # A call that failed counts for nothing.
    "refused": (1, [("1", "missing", "all_reduce", 100), ("0, 2", "waits", "all_reduce", 100)]),
    # Three hundred communicators came and went.
    "many": (1, [("1", "missing", "all_reduce", 100), ("0, 2", "waits", "all_reduce", 100)]),
    # The part of the ranks comes after all of them.
    "part": (1, [("1", "missing", "all_reduce", 100), ("0, 2", "waits", "all_reduce", 100)]),
    "size": (3, [("1", "differs", "all_reduce", 20)]),
    # All have begun the same collectives, so no rank waits in one.
    "message": (3, []),
}


def begin(case, folder):
    fake = os.environ["STAGEPROF_TEST_FAKE"]
    return subprocess.Popen(
        [PYTHON, PROGRAM, LIBRARY, case, folder],
        cwd=folder,
        env=training.environment(
            True,
            os.path.join(folder, "run.zst"),
            {"LD_LIBRARY_PATH": fake, "FAKE_NCCL_FOLDER": folder, "FAKE_CUDA_POLLS": "1"},
        ),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


class NcclHang(unittest.TestCase):
    maxDiff = None

    def test_each(self):
        with tempfile.TemporaryDirectory(prefix="stageprof-nccl-") as base:
            folders = {case: os.path.join(base, case) for case in CASES}
            for folder in folders.values():
                os.mkdir(folder)
            programs = {case: begin(case, folder) for case, folder in folders.items()}
            try:
                for case, program in programs.items():
                    for _ in range(CASES[case][0]):
                        self.assertEqual(program.stdout.readline(), b"ready\n", case)
                time.sleep(HANG_S)
            finally:
                for program in programs.values():
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(program.pid, signal.SIGKILL)
                    program.wait()
                    program.stdout.close()
            for case, folder in folders.items():
                with self.subTest(case):
                    self.check(case, os.path.join(folder, "run.zst"))

    def check(self, case, run):
        rows = training.report("hang", run)["ranks"]
        verdict = training.report("summary", run)["verdict"]
        found = {(r["ranks"], r["state"], r["operation"], r["elements"]) for r in rows}
        self.assertLessEqual(set(CASES[case][1]), found)
        self.assertEqual(verdict["code"], "hung")
        self.assertNotIn("the network", verdict["text"])
        if case == "message":
            self.assertEqual({r["state"] for r in rows}, {"apart"}, rows)
            return
        if case != "size":
            self.assertIn("never came", verdict["text"])
            self.assertIn("is inside open", verdict["text"])
        missing = [r["ordinal"] for r in rows if r["state"] == "missing"]
        waits = [r["ordinal"] for r in rows if r["state"] == "waits"]
        self.assertTrue(all(m < w for m in missing for w in waits[:1]), rows)
        if len(waits) == 1:
            self.assertEqual(waits[0], missing[0] + 1)


if __name__ == "__main__":
    unittest.main()
