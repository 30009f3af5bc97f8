# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own CUDA wheel on a device that is not there (tests/cuda/wheel): the bed counts each
call and each piece of work by itself, and the report has to agree."""

import collections
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "wheel"))

import bed
from calls import Case
import harness

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.environ.get("STAGEPROF_TEST_CUDA_PYTHON", "")
STEPS = 10  # of features.py
SLOW_NS, FAST_NS = 300_000, 1_000  # a kernel; the host launches one in some 10 µs

# Functions of the bed that are one call of a stage, each counted at the one level where it passes.
STAGE_CALLS = {
    "cuda_launch": "cuLaunchKernel cuLaunchKernelEx cuLaunchCooperativeKernel",
    "cuda_graph_launch": "cudaGraphLaunch",
    "cuda_memset": "cuMemsetD8Async",
    "cuda_sync": "cudaStreamSynchronize cudaDeviceSynchronize cudaEventSynchronize",
    "cuda_malloc": "cudaMalloc cudaMallocAsync cudaHostAlloc",
}
COPIES = {"h2d": "cuda_copy_h2d", "d2h": "cuda_copy_d2h", "d2d": "cuda_copy_d2d"}


Work = collections.namedtuple("Work", "kind stream begin end bytes put")


class Truth:
    def __init__(self, prefix):
        self.calls, self.work, self.phases = collections.Counter(), [], []
        for path in glob.glob(prefix + ".*"):
            with open(path) as file:
                for line in file:
                    self.take(line.split())

    def take(self, fields):
        if fields[0] == "call":
            self.calls[fields[1]] += int(fields[2])
        elif fields[0] == "phase":
            self.phases.append((int(fields[2]), int(fields[3]), fields[1]))
        else:
            self.work.append(Work(fields[1], *map(int, fields[2:7])))

    def count(self, names):
        return sum(self.calls[name] for name in names.split())

    def part_at(self, ns):
        """The training's phase at a call: outside all phases it is forward, up to the begin of the
        step's last backward."""
        phases = sorted(self.phases)
        step_end = min((e for _, e, name in phases if name == "optimizer" and e > ns), default=0)
        for begin, end, name in phases:
            if begin <= ns <= end:
                return name if name in ("backward", "optimizer") else "other"
        leads = any(name == "backward" and ns < begin < step_end for begin, _, name in phases)
        return "forward" if leads and ns >= phases[0][0] else "other"

    def gpu_ns(self):
        """The device's time by the phase of the call that gave it the work."""
        parts = collections.Counter()
        for work in self.work:
            parts[self.part_at(work.put)] += work.end - work.begin
        return parts

    def busy_ns(self):
        return sum(work.end - work.begin for work in self.work)

    def union_ns(self):
        """In which any work was under way."""
        sum_ns, at = 0, 0
        for work in sorted(self.work, key=lambda work: work.begin):
            sum_ns += max(0, work.end - max(work.begin, at))
            at = max(at, work.end)
        return sum_ns


class Wheel(Case):
    @classmethod
    def setUpClass(cls):
        if not os.access(PYTHON, os.X_OK):
            raise harness.unittest.SkipTest("no Python with PyTorch's CUDA wheel")
        cls.libraries = os.environ["STAGEPROF_TEST_BED"]
        bed.prepare(PYTHON, cls.libraries)

    def train(self, script, name, kernel_ns=20_000, env=None, launcher=()):
        folder = self.subfolder("-".join([name, str(kernel_ns), *(env or {})]))
        truth = os.path.join(folder, "truth")
        environment = {
            "LD_LIBRARY_PATH": self.libraries,
            "SIM_TRUTH": truth,
            "SIM_KERNEL_NS": str(kernel_ns),
            **(env or {}),
        }
        argv = [PYTHON, *launcher, os.path.join(HERE, "wheel", script), name]
        outcome = self.execute(argv, folder, env=environment, timeout=200)
        self.assertEqual(outcome.done.returncode, 0, outcome.done.stderr[-300:])
        return outcome.trace, Truth(truth)

    def assert_counts(self, trace, truth):
        stages, _ = trace.stages()
        reported = {name: row["calls"] for name, row in stages.items()}
        for stage, names in STAGE_CALLS.items():
            self.assertEqual(reported.get(stage, 0), truth.count(names), stage)
        if truth.calls["cudaGraphLaunch"]:
            return  # a captured copy is a call, and no work of its own
        for direction, stage in COPIES.items():
            sizes = [work.bytes for work in truth.work if work.kind == direction]
            self.assertEqual(reported.get(stage, 0), len(sizes), stage)
            if sizes:
                self.assertEqual(stages[stage]["bytes"], sum(sizes), stage)

    def features(self):
        listed = self.execute(
            [PYTHON, os.path.join(HERE, "wheel", "features.py")],
            self.subfolder("list"),
            traced=False,
            env={"LD_LIBRARY_PATH": self.libraries},
        )
        return listed.done.stdout.decode().split()

    def test_features(self):
        names = self.features()
        self.assertGreaterEqual(len(names), 30)
        for name in names:
            with self.subTest(feature=name):
                trace, truth = self.train("features.py", name)
                self.assertGreater(truth.count(STAGE_CALLS["cuda_launch"]), 0)
                self.assert_counts(trace, truth)
                self.assertEqual(trace.report("summary")["steps"]["count"], STEPS)

    def test_gpu_time_by_phase(self):
        """By CUPTI's records, each phase within 1% of the bed's clock; the stretches between
        events on the streams hold gaps between kernels, and are at least as long."""
        for name in self.features():
            with self.subTest(feature=name):
                trace, truth = self.train("features.py", name, env={"STAGEPROF_CUPTI": "1"})
                self.assert_counts(trace, truth)
                rows = trace.report("kernels", "--limit=all")["kernels"]
                self.assert_near(sum(row["total_ns"] for row in rows), truth.busy_ns())
                self.assert_near(trace.report("summary")["gpu"]["busy_ns"], truth.union_ns())
                if name != "cuda_graph":  # its step is one call, without phases
                    self.assert_phases(trace, rows, truth.gpu_ns())

    def test_two_ranks(self):
        """Collectives move data between two processes on the bed (ranks.py holds a sum)."""
        launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
        for kind in ("ddp", "fsdp"):
            with self.subTest(kind):
                env = {"STAGEPROF_CUPTI": "1", "OMP_NUM_THREADS": "1"}
                trace, truth = self.train("ranks.py", kind, env=env, launcher=launcher)
                self.assert_counts(trace, truth)
                events = trace.report("dump", "--limit=all")["events"]
                calls = collections.Counter(event["event"] for event in events)
                for name in ("ncclAllReduce", "ncclAllGather", "ncclReduceScatter"):
                    self.assertEqual(calls[name], truth.calls[name], name)
                self.assertEqual(calls["ncclBroadcast"], truth.count("ncclBroadcast ncclBcast"))
                rows = trace.report("kernels", "--limit=all")["kernels"]
                self.assert_near(sum(row["total_ns"] for row in rows), truth.busy_ns())
                self.assertEqual(trace.report("summary")["steps"]["count"], 2 * STEPS)

    def assert_near(self, reported, true):
        """Within 1%, and what two readings of a clock may differ by."""
        self.assertLessEqual(abs(reported - true), true / 100 + 50, (reported, true))

    def assert_phases(self, trace, rows, gpu_ns):
        stretches = {row["part"]: row["gpu_ns"] for row in trace.report("cuda")["parts"]}
        for part in ("forward", "backward", "optimizer", "other"):
            self.assert_near(sum(row[part + "_ns"] for row in rows), gpu_ns[part])
        for part in ("forward", "backward", "optimizer"):
            self.assertGreaterEqual(stretches[part], gpu_ns[part] * 0.99, part)
            figures = [ns / 1e6 for ns in (gpu_ns[part], stretches[part])]
            print("%s of %s: work %.3f ms, stretches %.3f ms" % (part, trace.path, *figures))

    def verdict(self, name, *, kernel_ns, env=None):
        trace, truth = self.train("planted.py", name, kernel_ns, env)
        self.assert_counts(trace, truth)
        summary = trace.report("summary")
        return summary["verdict"]["code"], summary["verdict"]["confidence"], trace

    def assert_verdict(self, right, name, **options):
        """The right verdict, or one that does not claim to be sure."""
        code, confidence, _ = self.verdict(name, **options)
        if code not in right:
            self.assertEqual(confidence, "low", f"{name}: {code}")

    def test_planted(self):
        self.assert_verdict(["launch-bound"], "resident", kernel_ns=FAST_NS)
        self.assert_verdict(["compute-bound"], "resident", kernel_ns=SLOW_NS)
        self.assert_verdict(["loader-bound", "input-bound"], "slow_loader", kernel_ns=FAST_NS)

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
        trace, _ = self.train("planted.py", "zeroed_late", env={"STAGEPROF_GPUTIME": "0"})
        plain = {row["part"]: row["launches"] for row in trace.report("cuda")["parts"]}
        self.assertEqual(recorded["forward"], plain["forward"])
        self.assertEqual(recorded["backward"], plain["backward"])


if __name__ == "__main__":
    harness.main()
