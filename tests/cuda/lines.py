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
        self.assertEqual((aside["calls"], aside["waited_for"]), (1, "stream"))
        self.assertGreaterEqual(aside["total_ns"], SLOW_NS)
        self.assertTrue(aside["frames"])
        # On a busy machine other calls may take a millisecond, too.
        self.assertLessEqual({function for _, function, _ in found}, {"short", "launch", None})
        self.assertEqual(top["calls"], 1)
        self.assert_waits(long, outcome)

    def assert_waits(self, row, outcome):
        """Calls of a millisecond are recorded, by a clock inside of the program's own."""
        with open(os.path.join(outcome.folder, "cwd", "waits.json")) as file:
            waits = [ns for ns in json.load(file) if ns >= SLOW_NS]
        sure = [ns for ns in waits if ns >= 1.2 * SLOW_NS]
        self.assertGreater(len(sure), 10)
        self.assertLessEqual(len(sure), row["calls"])
        self.assertLessEqual(row["calls"], len(waits))
        self.assertLessEqual(row["total_ns"], sum(waits))
        self.assertGreaterEqual(row["total_ns"], row["calls"] * SLOW_NS)

    def test_switched_off(self):
        outcome = self.run_both(sys.executable, SCRIPT, "2", env={"STAGEPROF_LINES": "0"})
        self.assertEqual(self.lines(outcome), {})

    def test_without_python(self):
        """Waits are still reported, by their stacks."""
        outcome = self.run_both(sys.executable, SCRIPT, "2", env={"STAGEPROF_PYTHON": "0"})
        rows = outcome.trace.report("sync", "--limit=all")["lines"]
        waits = [row for row in rows if row["event"] in ("cuStreamSynchronize", "cuCtxSynchronize")]
        with open(os.path.join(outcome.folder, "cwd", "waits.json")) as file:
            sure = [ns for ns in json.load(file) if ns >= 1.2 * SLOW_NS]
        self.assertGreaterEqual(sum(row["calls"] for row in waits), len(sure))
        self.assertEqual({(row["line"], row["function"]) for row in rows}, {(None, None)})
        self.assertTrue(all(row["frames"] for row in waits))

    def test_a_time_of_its_own(self):
        env = {"STAGEPROF_LINES": "1s"}
        outcome = self.run_both(sys.executable, SCRIPT, "2", env=env)
        self.assertEqual(self.lines(outcome), {})


if __name__ == "__main__":
    harness.main()
