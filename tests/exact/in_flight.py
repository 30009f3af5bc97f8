# SPDX-License-Identifier: Apache-2.0
"""A program that is killed inside of open: the report names the file, as STAGEPROF_PATHS allows."""

import os
import subprocess

import harness
from harness import victim

LONG = "/".join(["a-folder-with-quite-a-name"] * 8)


class InFlight(harness.Case):
    def killed_in_open(self, path, **settings):
        folder = self.subfolder(f"run-{len(os.listdir(self.folder))}")
        os.makedirs(os.path.dirname(os.path.join(folder, path)) or folder, exist_ok=True)
        os.mkfifo(os.path.join(folder, path))
        harness.Tally(os.path.join(folder, "tally"))
        process = subprocess.Popen(
            [victim("open_fifo"), path],
            cwd=folder,
            env={**harness.traced_environment(folder), **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"opens\n")
        trace = harness.Trace(os.path.join(folder, "run.zst"))
        calls = self.until_in_open(trace)
        process.kill()
        self.assertEqual(process.communicate()[1], b"")
        self.assertEqual(trace.report("summary")["in_flight"][0]["file"], calls[0]["file"])
        return calls[0]["file"]

    def until_in_open(self, trace):
        for _ in range(1000):
            calls = trace.report("summary")["in_flight"]
            if calls and calls[0]["event"] == "open":
                return calls
        raise AssertionError("the program never was in open")

    def test_path(self):
        self.assertEqual(self.killed_in_open("data/fifo"), "data/fifo")

    def test_end_of_a_long_path(self):
        path = LONG + "/fifo"
        self.assertEqual(self.killed_in_open(path), "..." + path[-118:])

    def test_written_mode(self):
        self.assertEqual(self.killed_in_open("data/fifo", STAGEPROF_MODE="write"), "data/fifo")

    def test_redacted(self):
        name = self.killed_in_open("data/fifo", STAGEPROF_PATHS="basename")
        self.assertEqual(name, "fifo")
        for kept in ("hash", "none"):
            self.assertIsNone(self.killed_in_open("data/fifo", STAGEPROF_PATHS=kept))


if __name__ == "__main__":
    harness.main()
