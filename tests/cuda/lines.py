# SPDX-License-Identifier: Apache-2.0
"""The view of calls that waited for the GPU, and their lines of Python, against a script that knows
its own."""

import json
import os
import sys

from calls import Case
import harness

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "waiting_lines.py")


class Lines(Case):
    def lines(self, outcome):
        rows = outcome.trace.report("sync", "--limit=all")["lines"]
        return {(row["line"], row["function"], row["event"]): row for row in rows}

    def test_lines_that_waited(self):
        outcome = self.run_both(sys.executable, SCRIPT, "20")
        said = json.loads(outcome.done.stdout)
        self.assert_valid(outcome.trace)
        found = self.lines(outcome)
        long = found.pop((f"{SCRIPT}:{said['LONG'][0]}", "long", "cuStreamSynchronize"))
        top = found.pop((f"{SCRIPT}:{said['TOP'][0]}", "<module>", "cuCtxSynchronize"))
        aside = found.pop((None, None, "cuStreamSynchronize"))
        self.assertEqual((aside["calls"], aside["waited_for"]), (1, "stream"))
        self.assertGreaterEqual(aside["total_ns"], 3_900_000)
        self.assertTrue(aside["frames"])
        # On a busy machine other calls may take a millisecond, too.
        self.assertLessEqual({function for _, function, _ in found}, {"short", "launch", None})
        self.assertEqual([long["calls"], top["calls"]], [said["LONG"][1], said["TOP"][1]])
        self.assertGreaterEqual(long["total_ns"], 20 * 3_900_000)
        self.assertGreaterEqual(long["max_ns"], 3_900_000)

    def test_switched_off(self):
        outcome = self.run_both(sys.executable, SCRIPT, "2", env={"STAGEPROF_LINES": "0"})
        self.assertEqual(self.lines(outcome), {})

    def test_without_python(self):
        """Waits are still reported, by their stacks."""
        outcome = self.run_both(sys.executable, SCRIPT, "2", env={"STAGEPROF_PYTHON": "0"})
        rows = outcome.trace.report("sync", "--limit=all")["lines"]
        waits = [row for row in rows if row["event"] in ("cuStreamSynchronize", "cuCtxSynchronize")]
        self.assertGreaterEqual(sum(row["calls"] for row in waits), 4)
        self.assertEqual({(row["line"], row["function"]) for row in rows}, {(None, None)})
        self.assertTrue(all(row["frames"] for row in waits))

    def test_a_time_of_its_own(self):
        env = {"STAGEPROF_LINES": "1s"}
        outcome = self.run_both(sys.executable, SCRIPT, "2", env=env)
        self.assertEqual(self.lines(outcome), {})


if __name__ == "__main__":
    harness.main()
