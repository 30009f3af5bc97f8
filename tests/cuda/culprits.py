"""Waits for the GPU with both of their causes, the line of Python and the native stack, against a script that times
its own; and that a quick call keeps neither."""

import collections
import json
import os
import subprocess
import sys

from calls import Case
import harness
from harness import victim

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "waiting_calls.py")
LIBRARY = "libgpu_waits.so"
LONG_NS = 1_000_000
WAITS = {"SYNC": ("cudaStreamSynchronize", "loss_item"), "COPY": ("cudaMemcpy", "metrics_to_host")}
IN_NATIVE = {"cudaStreamSynchronize": "wait_for_stream", "cudaMemcpy": "copy_back"}
ROUNDS = 20
ROUNDS_LEAST = ROUNDS * 4 // 5  # a wait is quick where the machine was busy until the kernel's end


def functions(library):
    """(first byte, behind the last, name) of what a library exports."""
    done = subprocess.run(["nm", "-DS", "--defined-only", library], stdout=subprocess.PIPE, check=True)
    rows = [line.split() for line in done.stdout.decode().splitlines()]
    return [(int(row[0], 16), int(row[0], 16) + int(row[1], 16), row[3]) for row in rows if len(row) == 4]


def names_of(frames, known):
    """The functions of LIBRARY on a stack, innermost first; a return address may be the first byte behind its call."""
    offsets = [int(f.split("+")[1], 16) for f in frames.split(";") if os.path.basename(f.split("+")[0]) == LIBRARY]
    return [name for offset in offsets for begin, end, name in known if begin < offset <= end]


class Culprits(Case):
    def setUp(self):
        super().setUp()
        self.waits = victim(LIBRARY)
        said = os.path.join(self.folder, "said.json")
        env = {"STAGEPROF_STACKS": "cuda_sync>1ms,cuda_copy>1ms,cuda_launch>1ms", "STAGEPROF_LINES": "1ms"}
        self.outcome = self.run_both(sys.executable, SCRIPT, self.waits, str(ROUNDS), said, env=env)
        with open(said) as file:
            self.said = json.load(file)
        events = self.outcome.trace.report("dump", "--limit=all")["events"]
        self.calls = [e for e in events if e["stage"] in ("cuda_sync", "cuda_copy_d2h", "cuda_launch")]
        self.long = collections.Counter(e["event"] for e in self.calls if e["dur_ns"] >= LONG_NS)

    def test_lines(self):
        rows = self.outcome.trace.report("sync", "--limit=all")["lines"]
        found = {(row["line"], row["function"], row["event"]): row for row in rows}
        for mark, (event, function) in WAITS.items():
            with self.subTest(event):
                row = found[f"{SCRIPT}:{self.said['lines'][mark]}", function, event]
                self.assertTrue(ROUNDS_LEAST <= row["calls"] <= ROUNDS, row["calls"])
                self.assertGreaterEqual(row["total_ns"], row["calls"] * self.said["kernel_ns"] * 0.8)
                self.assertLessEqual(row["total_ns"], self.said["took_ns"][mark])
        self.assert_only_long_ones(rows)

    def test_stacks(self):
        rows = self.outcome.trace.report("stacks", "--limit=all")["slow_calls"]
        known = functions(self.waits)
        for mark, (event, _) in WAITS.items():
            with self.subTest(event):
                mine = [row for row in rows if row["event"] == event]
                self.assertGreaterEqual(sum(row["calls"] for row in mine), ROUNDS_LEAST)
                for row in mine:
                    self.assertEqual(names_of(row["frames"], known), [IN_NATIVE[event], "settle"], row["frames"])
        self.assert_only_long_ones(rows)

    def assert_only_long_ones(self, rows):
        """Of each function exactly its calls of a millisecond or longer: on a busy machine quick ones may be some."""
        kept = collections.Counter()
        for row in rows:
            kept[row["event"]] += row["calls"]
        self.assertEqual(kept, self.long)
        quick = collections.Counter(e["event"] for e in self.calls) - self.long
        self.assertGreater(quick["cudaLaunchKernel"], 20 * ROUNDS)
        self.assertGreater(quick["cudaStreamSynchronize"], 0)


if __name__ == "__main__":
    harness.main()
