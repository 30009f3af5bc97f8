# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at random instants: own count <= reported <= own count + 1, for every thread."""

import os

import harness
from harness import victim

KILLS = int(os.environ.get("STAGEPROF_TEST_KILLS", 20 * harness.REPEATS))


class Kills(harness.Case):
    def test_random_instants(self):
        outcome = self.execute(
            [victim("kill_random"), str(KILLS), str(os.getpid())],
            self.subfolder("traced"),
            timeout=120 + KILLS // 10,
        )
        self.assertEqual(outcome.done.stdout.decode(), f"killed {KILLS}\n")
        self.assertEqual(outcome.done.returncode, 0)
        self.assertEqual(outcome.done.stderr, b"")
        self.assert_valid(outcome.trace)
        rows = outcome.rows()
        stages, run = outcome.trace.stages()
        self.assertEqual(run["events_lost"], 0)
        self.assert_stages(rows, stages, "run")
        self.assert_threads(rows, outcome.trace)
        gaps = {row.begun - row.calls for row in rows}
        self.assertEqual(gaps, {0, 1}, "no kill hit a call: the test tests nothing")


if __name__ == "__main__":
    harness.main()
