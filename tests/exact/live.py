# SPDX-License-Identifier: Apache-2.0
"""A report on a run that goes on: every file valid, the numbers a prefix that never shrinks."""

import os
import signal
import subprocess
import time

import harness
from harness import victim


class Live(harness.Case):
    TIMES = 20

    def sums(self, tally):
        return harness.bounds(tally.rows(), lambda row: row.stage)

    def test_while_running(self):
        folder = self.subfolder("live")
        tally = harness.Tally(os.path.join(folder, "tally"))
        process = subprocess.Popen(
            [victim("read_loop"), "2", "1", "until-stopped"],
            cwd=folder,
            env=harness.traced_environment(folder),
            stderr=subprocess.PIPE,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        trace = harness.Trace(os.path.join(folder, "run.zst"))
        while self.sums(tally).get("file_read", harness.Bounds(0, 0, 0)).calls < 1000:
            self.assertIsNone(process.poll(), "the victim ended")
            time.sleep(0.001)
        last = 0
        for _ in range(self.TIMES):
            last = self.check(trace, tally, last)
        process.send_signal(signal.SIGKILL)
        self.assertEqual(process.communicate()[1], b"")
        outcome = harness.Outcome(folder, trace, tally, process)
        self.assert_exact(outcome)

    def check(self, trace, tally, last):
        # zstd reads 128 KiB at a time: a growth in between shows it the file's end of before and of
        # after.
        said = trace.invalid_files() and trace.invalid_files()
        self.assertEqual(said, "", "valid: zstd -t")
        before = self.sums(tally)
        stages, run = trace.stages()
        after = self.sums(tally)
        self.assertEqual(run["events_lost"], 0)
        for name in ("file_open", "file_read", "file_write"):
            self.assertTrue(
                before[name].calls <= stages[name]["calls"] <= after[name].begun,
                f"{name}: counted {before[name].calls} before and {after[name].begun} after, "
                f"reported {stages[name]['calls']}",
            )
        self.assertGreaterEqual(stages["file_read"]["calls"], last)
        return stages["file_read"]["calls"]


if __name__ == "__main__":
    harness.main()
