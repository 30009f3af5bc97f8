# SPDX-License-Identifier: Apache-2.0
"""The view of calls that waited for the GPU, and their lines of Python, against a script that knows
its own."""

import json
import os
import sys

from calls import Case
import harness

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "waiting_lines.py")
SLOW_NS = 1_000_000  # calls of less are not recorded


class Lines(Case):
    def lines(self, outcome):
        rows = outcome.trace.report("sync", "--limit=all")["lines"]
        return {(row["line"], row["function"], row["event"]): row for row in rows}

    def test_lines_that_waited(self):
        outcome = self.run_both(sys.executable, SCRIPT, "20")
        said = json.loads(outcome.done.stdout)
        self.assert_valid(outcome.trace)
        found = self.lines(outcome)
        long = found.pop((f"{SCRIPT}:{said['LONG']}", "long", "cuStreamSynchronize"))
        top = found.pop((f"{SCRIPT}:{said['TOP']}", "<module>", "cuCtxSynchronize"))
        aside = found.pop((None, None, "cuStreamSynchronize"))
        self.assertEqual(aside["waited_for"], "stream")
        self.assertTrue(aside["frames"])
        # On a busy machine other calls may take a millisecond, too.
        self.assertLessEqual({function for _, function, _ in found}, {"short", "launch", None})
        for mark, row, least in ("LONG", long, 20), ("ASIDE", aside, 1), ("TOP", top, 1):
            with self.subTest(mark):
                self.assert_waits(row, self.waits(outcome)[mark], least)

    def waits(self, outcome):
        with open(os.path.join(outcome.folder, "cwd", "waits.json")) as file:
            return json.load(file)

    def assert_waits(self, row, waits, least):
        """Calls of a millisecond are recorded: a call's recorded time holds the wait by the
        device's clock, and lies in that by the program's."""
        around = [ns for ns, _ in waits if ns >= SLOW_NS]
        sure = [ns for _, ns in waits if ns >= SLOW_NS]
        self.assertGreaterEqual(len(sure), least)
        self.assertTrue(len(sure) <= row["calls"] <= len(around), row["calls"])
        self.assertTrue(sum(sure) <= row["total_ns"] <= sum(around), row["total_ns"])

    def test_switched_off(self):
        outcome = self.run_both(sys.executable, SCRIPT, "2", env={"STAGEPROF_WITHOUT": "lines"})
        self.assertEqual(self.lines(outcome), {})

    def test_without_python(self):
        """Waits are still reported, by their stacks."""
        outcome = self.run_both(sys.executable, SCRIPT, "2", env={"STAGEPROF_PYTHON": "0"})
        rows = outcome.trace.report("sync", "--limit=all")["lines"]
        waits = [row for row in rows if row["event"] in ("cuStreamSynchronize", "cuCtxSynchronize")]
        sure = [ns for rows in self.waits(outcome).values() for _, ns in rows if ns >= SLOW_NS]
        self.assertGreaterEqual(sum(row["calls"] for row in waits), len(sure))
        self.assertEqual({(row["line"], row["function"]) for row in rows}, {(None, None)})
        self.assertTrue(all(row["frames"] for row in waits))


if __name__ == "__main__":
    harness.main()
