# SPDX-License-Identifier: Apache-2.0
"""Children of every origin, and every way in which a process can end."""

import os
import struct
import sys

import harness
from harness import victim

WAYS = "return exit _exit _Exit quick_exit exit_group abort segv kill pthread_exit".split()


class Native(harness.Case):
    def test_workers(self):
        outcome = self.both(victim("fork_workers"), "40", "1000")
        self.assert_exact(outcome)

    def test_fork_beside_threads(self):
        outcome = self.both(victim("fork_workers"), str(20 * harness.REPEATS), "10")
        self.assert_exact(outcome)

    def test_vfork_and_spawn(self):
        outcome = self.both(victim("vfork_exec"), "500")
        self.assert_exact(outcome)
        listed = outcome.trace.report("processes")["processes"]
        self.assertEqual(len(listed), 1, "shells and coreutils are dormant")

    def test_ways_to_fork(self):
        self.assert_exact(self.both(victim("fork_ways")))

    def test_exit_amid_reading_threads(self):
        outcome = self.both(victim("exit_race"), str(6 * harness.REPEATS))
        self.assert_exact(outcome)
        self.assert_threads(outcome.rows(), outcome.trace)

    def test_exec_self(self):
        outcome = self.both(victim("exec_self"), "4")
        self.assert_exact(outcome)
        self.assertEqual(len({row.pid for row in outcome.rows()}), 1)
        self.assertEqual(len(outcome.trace.images()), 5)

    def test_ways_to_end(self):
        for way in WAYS:
            with self.subTest(way=way):
                self.assert_exact(self.both(victim("exit_ways"), way, name=way))


class Python(harness.Case):
    WORKERS, READS = 3, 400

    def check(self, method, how):
        script = os.path.join(harness.SOURCES, "mp_workers.py")
        outcome = self.both(sys.executable, script, method, how, str(self.WORKERS), str(self.READS))
        self.assert_valid(outcome.trace)
        reported = harness.reads_by_name(outcome.trace)
        for number in range(self.WORKERS):
            with open(os.path.join(outcome.folder, "cwd", f"count-{number}.bin"), "rb") as file:
                begun, done = struct.unpack("<QQ", file.read())
            self.assertGreaterEqual(done, self.READS)
            calls, nbytes = reported[f"data-{number}.dat"]
            self.assert_within(
                harness.Bounds(done, begun, done * 100), calls, nbytes, f"worker {number}"
            )
        self.assertEqual(outcome.trace.stages()[1]["events_lost"], 0)


def add(method, how):
    setattr(Python, f"test_{method}_{how.strip('_')}", lambda self: self.check(method, how))


for each_method in ("fork", "spawn", "forkserver"):
    for each_end in ("return", "_exit", "terminate", "kill"):
        add(each_method, each_end)

if __name__ == "__main__":
    harness.main()
