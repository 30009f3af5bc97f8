# SPDX-License-Identifier: Apache-2.0
"""Arrows from operators to their autograd nodes, against the sequence numbers that PyTorch's own
profiler gives to both in the same run.

The n-th call of a name is the same call in both files, because both have all of them.
"""

import collections
import gzip
import json
import os
import subprocess
import tempfile
import unittest

import make_runs
import runs

PROGRAM = os.path.join(runs.HERE, "backward_program.py")


def trace_of(path, zipped):
    with gzip.open(path, "rt") if zipped else open(path) as file:
        return json.load(file, parse_float=lambda number: int(number.replace(".", "")))


class Calls:
    """Operators and nodes inside of a label, by (thread, start) and by (name, number); arrows."""

    def __init__(self, events, label):
        whole = next(e for e in events if e.get("name") == label and e["ph"] == "X")
        kept = [e for e in events if 0 <= e.get("ts", -1) - whole["ts"] < whole["dur"]]
        calls = [e for e in kept if e["ph"] == "X" and e.get("cat") == "cpu_op"]
        self.counts, self.numbered, self.at = collections.Counter(), {}, {}
        for event in sorted(calls, key=lambda e: e["ts"]):
            key = event["name"], self.counts[event["name"]]
            self.numbered[key] = event
            self.at.setdefault((event["tid"], event["ts"]), []).append(key)
            self.counts[event["name"]] += 1
        self.starts, self.ends = (
            {e["id"]: e for e in kept if e.get("cat") == "fwdbwd" and e["ph"] == phase}
            for phase in "sf"
        )


class Backward(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            environment = {k: v for k, v in os.environ.items() if not k.startswith("STAGEPROF_")}
            run, own, ours = (os.path.join(folder, n) for n in ("run.zst", "own.json", "out.gz"))
            environment.update(
                LD_PRELOAD=os.environ["STAGEPROF_TEST_LIB"],
                STAGEPROF_OUTPUT=run,
                STAGEPROF_OPS="1",
            )
            command = [make_runs.interpreter(), PROGRAM, own]
            subprocess.run(command, env=environment, check=True, capture_output=True)
            export = [os.environ["STAGEPROF_TEST_REPORT"], "export", "chrome", run, "-q"]
            subprocess.run([*export, "-o", ours], check=True)
            cls.ours, cls.theirs = (
                trace_of(path, path == ours)["traceEvents"] for path in (ours, own)
            )

    def arrows(self, label):
        """(operator, node) of each arrow, as (name, number), after their sequence numbers were
        compared; the number of PyTorch's arrows."""
        calls, known = Calls(self.ours, label), Calls(self.theirs, label)
        self.assertEqual(set(calls.starts), set(calls.ends))
        found = [
            (self.call_at(calls, start, False), self.call_at(calls, calls.ends[number], True))
            for number, start in calls.starts.items()
        ]
        self.assertEqual(len({node for _, node in found}), len(found), "a node has one arrow")
        for arrow in found:
            for name, _ in arrow:
                self.assertEqual(calls.counts[name], known.counts[name], name)
            made, node = (known.numbered[key]["args"]["Sequence number"] for key in arrow)
            self.assertEqual(made, node, arrow)
        return found, len(known.ends)

    def call_at(self, calls, end, is_node):
        """The slice that the arrow's end lies on."""
        found = [
            key
            for key in calls.at.get((end["tid"], end["ts"]), [])
            if ("Backward" in key[0] and ":" not in key[0]) == is_node
        ]
        self.assertEqual(len(found), 1, end)
        return found[0]

    def test_pictures(self):
        arrows, drawn = self.arrows("pictures")
        self.assertGreater(2 * len(arrows), drawn)
        pairs = collections.Counter((op, node) for (op, _), (node, _) in arrows)
        calls = 4 * 2  # steps, backwards in each
        for pair, count in {
            ("aten::convolution", "ConvolutionBackward0"): 2,
            ("aten::addmm", "AddmmBackward0"): 4,
            ("aten::relu_", "ReluBackward0"): 1,
            ("aten::relu", "ReluBackward0"): 2,
            ("aten::max_pool2d_with_indices", "MaxPool2DWithIndicesBackward0"): 1,
            ("aten::log_softmax", "LogSoftmaxBackward0"): 1,
            ("aten::nll_loss", "NllLossBackward0"): 1,
            ("Scale", "ScaleBackward"): 1,
        }.items():
            self.assertEqual(pairs[pair], count * calls, pair)
        # Products of the pictures make no node, and nothing shows which ones do.
        self.assertFalse([pair for pair in pairs if pair[0] == "aten::mul"])

    def test_adversaries(self):
        """The maker's layers have their backward in the step after."""
        arrows, _ = self.arrows("adversaries")
        nodes = {node for _, (node, _) in arrows}
        self.assertIn("NegBackward0", nodes)
        self.assertNotIn("AddmmBackward0", nodes)

    def test_penalty(self):
        self.arrows("penalty")

    def test_recompute(self):
        arrows, drawn = self.arrows("recompute")
        self.assertGreater(2 * len(arrows), drawn)

    def test_recompute_inside(self):
        arrows, _ = self.arrows("recompute_inside")
        self.assertFalse([n for _, (n, _) in arrows if n == "TanhBackward0"])

    def test_branches(self):
        arrows, _ = self.arrows("branches")
        self.assertFalse([n for _, (n, _) in arrows if n == "AddmmBackward0"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
