# SPDX-License-Identifier: Apache-2.0
"""Waits for the GPU with both of their causes, the line of Python and the native stack, against a
script that times its own and a device that times its waits; and that a quick call keeps neither."""

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
# By mark: the event, the Python function, what it waited for, the memory of a copy, the native
# functions.
WAITS = {
    "SYNC": [("cudaStreamSynchronize", "loss_item", "stream", None, ["wait_for_stream", "settle"])],
    "COPY": [
        ("cudaMemcpy", "metrics_to_host", "cuda_copy_d2h", "pageable", ["copy_back", "settle"])
    ],
    "TWICE": [
        ("cudaStreamSynchronize", "both", "stream", None, ["wait_for_stream", "wait_twice"]),
        ("cudaDeviceSynchronize", "both", "device", None, ["wait_twice"]),
    ],
}
ROUNDS = 20


def functions(library):
    """(first byte, end, name) of each exported function."""
    done = subprocess.run(
        ["nm", "-DS", "--defined-only", library], stdout=subprocess.PIPE, check=True
    )
    rows = [line.split() for line in done.stdout.decode().splitlines()]
    return [
        (int(row[0], 16), int(row[0], 16) + int(row[1], 16), row[3])
        for row in rows
        if len(row) == 4
    ]


def names_of(frames, known):
    """The functions of LIBRARY on a stack, innermost first; a return address may be the first byte
    after its call."""
    offsets = [
        int(f.split("+")[1], 16)
        for f in frames.split(";")
        if os.path.basename(f.split("+")[0]) == LIBRARY
    ]
    return [name for offset in offsets for begin, end, name in known if begin < offset <= end]


def names_told(row):
    """The same, as the report names them by itself."""
    frames = row["frames"].split(";")
    assert len(frames) == len(row["functions"]), row
    return [
        name for frame, name in zip(frames, row["functions"]) if frame.startswith(LIBRARY + "+")
    ]


class Culprits(Case):
    """As it is when nobody asks for anything."""

    ENV = {}

    def setUp(self):
        super().setUp()
        self.waits = victim(LIBRARY)
        said = os.path.join(self.folder, "said.json")
        self.outcome = self.run_both(
            sys.executable, SCRIPT, self.waits, str(ROUNDS), said, env=self.ENV
        )
        with open(said) as file:
            self.said = json.load(file)
        events = self.outcome.trace.report("dump", "--limit=all")["events"]
        self.calls = [
            e for e in events if e["stage"] in ("cuda_sync", "cuda_copy_d2h", "cuda_launch")
        ]

    def counts(self, least_ns):
        return collections.Counter(e["event"] for e in self.calls if e["dur_ns"] >= least_ns)

    def test_lines_with_their_stacks(self):
        rows = self.outcome.trace.report("sync", "--limit=all", "--symbols")["lines"]
        found = {(row["line"], row["function"], row["event"]): row for row in rows}
        known = functions(self.waits)
        for mark, waits in WAITS.items():
            mine = []
            for event, function, waited_for, memory, native in waits:
                with self.subTest(event, function=function):
                    row = found[f"{SCRIPT}:{self.said['lines'][mark]}", function, event]
                    self.assert_long(row, mark, len(mine))
                    self.assertEqual((row["waited_for"], row["host_memory"]), (waited_for, memory))
                    self.assertEqual(names_of(row["frames"], known), native, row["frames"])
                    self.assertEqual(names_told(row), native, row)
                    mine.append(row["total_ns"])
            self.assertLessEqual(sum(mine), sum(ns for ns, _ in self.said["calls"][mark]))
        self.assert_only_long_ones(rows)

    def long_waits(self, mark, n):
        """The n-th waits of the calls, where these are long by the device's own clock."""
        waits = [waits[n] for _, waits in self.said["calls"][mark]]
        return [ns for ns in waits if ns >= LONG_NS]

    def assert_long(self, row, mark, n):
        """A call's recorded time holds its wait, and lies in the script's own time around it."""
        sure = self.long_waits(mark, n)
        around = [ns for ns, _ in self.said["calls"][mark] if ns >= LONG_NS]
        self.assertGreaterEqual(len(sure), ROUNDS)
        self.assertTrue(len(sure) <= row["calls"] <= len(around), row["calls"])
        self.assertGreaterEqual(row["total_ns"], sum(sure))

    def test_stacks(self):
        rows = self.outcome.trace.report("stacks", "--limit=all", "--symbols")["slow_calls"]
        known = functions(self.waits)
        kept = collections.Counter()
        for row in rows:
            if row["frames"]:
                self.assertEqual(names_told(row), names_of(row["frames"], known), row)
            kept[row["event"], tuple(names_of(row["frames"], known))] += row["calls"]
        for mark, waits in WAITS.items():
            for n, (event, _, _, _, native) in enumerate(waits):
                sure = self.long_waits(mark, n)
                self.assertGreaterEqual(kept[event, tuple(native)], len(sure), kept)
        self.assert_only_long_ones(rows)

    def assert_only_long_ones(self, rows):
        """The rows of each function are its calls of a millisecond or longer, to a hundredth: the
        recorder has looked at its counter for 50 µs. A quick call may be among them on a busy
        machine."""
        kept = collections.Counter()
        for row in rows:
            if row["event"] in {call["event"] for call in self.calls}:
                kept[row["event"]] += row["calls"]
        sure, most = self.counts(1.01 * LONG_NS), self.counts(0.99 * LONG_NS)
        for event in {*kept, *most}:
            self.assertTrue(sure[event] <= kept[event] <= most[event], (event, kept, sure, most))
        quick = self.counts(0) - most
        self.assertGreater(quick["cudaLaunchKernel"], 20 * ROUNDS)
        self.assertGreater(quick["cudaStreamSynchronize"], 0)


class CulpritsAsked(Culprits):
    """Each stack taken again."""

    ENV = {"STAGEPROF_STACKS": "cuda_sync>1ms,cuda_copy>1ms,cuda_launch>1ms"}


class Generated(Case):
    def test_code_without_unwind_information(self):
        """A stack ends in it, and nobody goes on by what a register holds."""
        for name, env in (("default", {}), ("asked", {"STAGEPROF_STACKS": "cuda_sync>1us"})):
            with self.subTest(name):
                outcome = self.run_both(victim("generated"), "3", env=env, name=name)
                if outcome.done.stdout == b"done\n":
                    rows = outcome.trace.report("stacks", "--limit=all", "--symbols")["slow_calls"]
                    waits = [row for row in rows if row["event"] == "cudaStreamSynchronize"]
                    self.assertGreaterEqual(sum(row["calls"] for row in waits), 20)
                    self.assertTrue(all(row["frames"].startswith("?+") for row in waits), waits)
                    self.assertFalse([row for row in waits if ";" in row["frames"]])


if __name__ == "__main__":
    harness.main()
