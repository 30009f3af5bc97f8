"""SIGKILL at random instants: own count <= reported <= own count + 1, for every thread."""

import os

import harness
from harness import victim

KILLS = int(os.environ.get("STAGEPROF_TEST_KILLS", "1000"))


class Kills(harness.Case):
    def test_random_instants(self):
        outcome = self.execute(
            [victim("kill_random"), str(KILLS), str(os.getpid())],
            self.subfolder("traced"),
            timeout=300,
        )
        self.assertEqual(outcome.done.stdout.decode(), f"killed {KILLS}\n")
        self.assertEqual(outcome.done.returncode, 0)
        self.assertEqual(outcome.done.stderr, b"")
        self.assert_valid(outcome.trace)
        rows = outcome.rows()
        stages, run = outcome.trace.stages()
        self.assertEqual(run["events_lost"], 0)
        self.assert_stages(rows, stages, "run")
        self.check_threads(rows, outcome.trace)

    def check_threads(self, rows, trace):
        """Events of processes (fork, exec, exit) are no calls that the victim counts."""
        reported = {}
        for thread in trace.report("threads", "--limit=0")["threads"]:
            key = (thread["pid"], thread["tid"])
            reported[key] = reported.get(key, 0) + thread["events"]
        counted = harness.bounds(rows, lambda row: (row.pid, row.tid))
        parent = rows[0].pid
        wrong = [
            f"{key}: counted {bound.calls} to {bound.begun}, reported {reported.get(key, 0)}"
            for key, bound in counted.items()
            if key[0] != parent and not bound.calls <= reported.get(key, 0) <= bound.begun
        ]
        self.assertEqual(wrong, [], f"{len(wrong)} of {len(counted)} threads")
        self.assertEqual(
            max(bound.begun - bound.calls for bound in counted.values()),
            1,
            "no kill hit a call: the test tests nothing",
        )


if __name__ == "__main__":
    harness.main()
