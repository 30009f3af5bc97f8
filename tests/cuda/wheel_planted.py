# SPDX-License-Identifier: Apache-2.0
"""Trainers with one planted property on the bed (tests/cuda/wheel/planted.py): the verdict is
right, and the what-if holds the step of the mended trainer, each in turn on the same machine. The
device is slow against the host, so that a busy machine changes little."""

import collections

from bed_case import BedCase, STAGE_CALLS
import harness

TURNS = 3  # of the mended trainer: other programs may lengthen its steps, too
SLOW_NS, FAST_NS = 300_000, 1_000  # a kernel; the host launches one in some 10 µs
Fault = collections.namedtuple("Fault", "verdicts kernel_ns what_if env ranks has_mended")
QUEUE = {"SIM_QUEUE": "64"}
COPIES = {**QUEUE, "SIM_NO_DATA": "1", "SIM_COPY_NS_PER_KIB": "400"}
COLLECTIVES = {"SIM_NCCL_NS_PER_KIB": "2000"}


def fault(verdicts, kernel_ns, what_if=None, env=None, ranks=0, has_mended=True):
    """verdicts: the right ones. what_if: its range has the mended trainer's step."""
    return Fault(verdicts.split(), kernel_ns, what_if, env or {}, ranks, has_mended)


FAULTS = {
    "pageable_copies": fault("copy-bound", FAST_NS, "pinned_copies", COPIES),
    "copies_in_line": fault("copy-bound", FAST_NS, env=COPIES, has_mended=False),
    "late_copies": fault("copy-bound", FAST_NS, env=COPIES),
    "item_each_step": fault("sync-bound loop-bound", 200_000, "no_syncs", QUEUE),
    "allocations": fault("allocation-bound", 40_000),
    "slow_loader": fault("input-bound", 400_000, "input_free", QUEUE),
    "reduced_late": fault("communication-bound", 20_000, env=COLLECTIVES, ranks=2),
    "late_rank": fault("communication-bound", 20_000, ranks=2),
}


class Planted(BedCase):
    def verdict(self, name, *, kernel_ns, env=None, ranks=0, words=()):
        trace, truth = self.train("planted.py", name, kernel_ns, env, ranks, words)
        self.assert_counts(trace, truth)
        verdict = trace.report("summary")["verdict"]
        return verdict["code"], verdict["confidence"], trace

    def assert_verdict(self, right, name, **options):
        """The right verdict, or one that does not claim to be sure."""
        code, confidence, trace = self.verdict(name, **options)
        if code not in right:
            self.assertEqual(confidence, "low", f"{name}: {code}")
        return trace

    def test_verdicts(self):
        self.assert_verdict(["launch-bound"], "resident", kernel_ns=FAST_NS)
        self.assert_verdict(["compute-bound"], "resident", kernel_ns=SLOW_NS)

    def test_faults(self):
        for name, fault in FAULTS.items():
            with self.subTest(name):
                self.assert_fault(name, fault)

    def assert_fault(self, name, fault):
        options = {"kernel_ns": fault.kernel_ns, "env": fault.env, "ranks": fault.ranks}
        trace = self.assert_verdict(fault.verdicts, name, **options)
        if not fault.has_mended:
            return
        self.assertTrue(
            any(self.holds_mended(name, fault, trace, options, turn) for turn in range(TURNS))
        )

    def holds_mended(self, name, fault, trace, options, turn):
        """The mended trainer is faster, and the what-if has its step."""
        _, _, mended = self.verdict(name, words=("mended", str(turn)), **options)
        steps = [run.report("summary")["steps"]["step_mean_ns"] for run in (trace, mended)]
        if not fault.what_if:
            return steps[1] < steps[0]
        rows = {row["what_if"]: row for row in trace.report("whatif")["what_if"]}
        row = rows[fault.what_if]
        figures = [ns / 1e6 for ns in (steps[0], row["low_ns"], row["high_ns"], steps[1])]
        print("%s: %.2f ms, %.2f to %.2f said, %.2f mended" % (name, *figures))
        return steps[1] < steps[0] and row["low_ns"] / 1.1 <= steps[1] <= row["high_ns"] / 0.9

    def test_late_rank(self):
        """Late on the host in backward."""
        _, _, trace = self.verdict("late_rank", kernel_ns=20_000, ranks=2, words=["again"])
        named = [row["rank"] for row in trace.report("ranks")["ranks"] if row["straggler"] == "yes"]
        self.assertEqual(named, [1])

    def test_setup_is_no_idleness(self):
        code, _, _ = self.verdict("long_setup", kernel_ns=SLOW_NS)
        self.assertNotEqual(code, "sync-bound")

    def test_replays_are_steps(self):
        trace, truth = self.train("planted.py", "graph_replays")
        self.assert_counts(trace, truth)
        self.assertEqual(trace.report("summary")["steps"]["count"], 30)

    def test_phases_without_gpu_time(self):
        """Forward's launches are forward's, whether or not the device's time is recorded."""
        trace, truth = self.train("planted.py", "zeroed_late")
        recorded = {row["part"]: row["launches"] for row in trace.report("cuda")["parts"]}
        self.assertGreater(recorded["forward"], 0)
        self.assertEqual(sum(recorded.values()), truth.count(STAGE_CALLS["cuda_launch"]))
        trace, _ = self.train("planted.py", "zeroed_late", env={"STAGEPROF_WITHOUT": "gpu_time"})
        plain = {row["part"]: row["launches"] for row in trace.report("cuda")["parts"]}
        self.assertEqual(recorded["forward"], plain["forward"])
        self.assertEqual(recorded["backward"], plain["backward"])


if __name__ == "__main__":
    harness.main()
