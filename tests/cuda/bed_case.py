# SPDX-License-Identifier: Apache-2.0
"""A training on the bed of tests/cuda/wheel, and its counts against the report."""

import collections
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "wheel"))

import bed
from calls import Case
import harness
from truth import Truth

PYTHON = os.environ.get("STAGEPROF_TEST_CUDA_PYTHON", "")
RANKS = ["-m", "torch.distributed.run", "--standalone"]

# Functions of the bed that are one call of a stage, each counted at the one level where it passes.
STAGE_CALLS = {
    "cuda_launch": "cuLaunchKernel cuLaunchKernelEx cuLaunchCooperativeKernel",
    "cuda_graph_launch": "cudaGraphLaunch",
    "cuda_memset": "cuMemsetD8Async",
    "cuda_sync": "cudaStreamSynchronize cudaDeviceSynchronize cudaEventSynchronize",
    "cuda_malloc": "cudaMalloc cudaMallocAsync cudaHostAlloc",
    "cuda_free": "cudaFree cudaFreeAsync cudaFreeHost",
}
COPIES = {"h2d": "cuda_copy_h2d", "d2h": "cuda_copy_d2h", "d2d": "cuda_copy_d2d"}
NCCL = "ncclAllReduce ncclAllGather ncclReduceScatter ncclSend ncclRecv ncclReduce".split()


class BedCase(Case):
    @classmethod
    def setUpClass(cls):
        if not os.access(PYTHON, os.X_OK):
            raise harness.unittest.SkipTest("no Python with PyTorch's CUDA wheel")
        cls.libraries = os.environ["STAGEPROF_TEST_BED"]
        bed.prepare(PYTHON, cls.libraries)

    def listed(self, script):
        """Lines in which the script lists its trainings."""
        outcome = self.execute(
            [PYTHON, os.path.join(HERE, "wheel", script)],
            self.subfolder("list"),
            traced=False,
            env={"LD_LIBRARY_PATH": self.libraries},
        )
        return outcome.done.stdout.decode().splitlines()

    def train(self, script, name, kernel_ns=20_000, env=None, ranks=0, words=()):
        """ranks: 0: one process, without torchrun."""
        folder = self.subfolder("-".join([name, str(kernel_ns), *words, *(env or {})]))
        truth = os.path.join(folder, "truth")
        environment = {
            "LD_LIBRARY_PATH": self.libraries,
            "SIM_TRUTH": truth,
            "SIM_KERNEL_NS": str(kernel_ns),
            "SIM_DEVICES": str(max(ranks, 1)),
            "OMP_NUM_THREADS": "1",
            **(env or {}),
        }
        launcher = [*RANKS, f"--nproc-per-node={ranks}"] if ranks else []
        argv = [PYTHON, *launcher, os.path.join(HERE, "wheel", script), name, *words]
        outcome = self.execute(argv, folder, env=environment, timeout=200)
        self.assertEqual(outcome.done.returncode, 0, outcome.done.stderr[-300:])
        return outcome.trace, Truth(truth)

    def assert_counts(self, trace, truth):
        stages, _ = trace.stages()
        reported = {name: row["calls"] for name, row in stages.items()}
        for stage, names in STAGE_CALLS.items():
            self.assertEqual(reported.get(stage, 0), truth.count(names), stage)
        if not truth.calls["cudaGraphLaunch"]:  # a captured copy is a call, and no work of its own
            self.assert_copies(trace, truth, stages)

    def assert_copies(self, trace, truth, stages):
        for direction, stage in COPIES.items():
            sizes = [work.bytes for work in truth.work if work.kind == direction]
            calls = stages[stage]["calls"] if stage in stages else 0
            self.assertEqual(calls, len(sizes), stage)
            if sizes:
                self.assertEqual(stages[stage]["bytes"], sum(sizes), stage)
        events = trace.report("dump", "--limit=all")["events"]
        found = collections.Counter(
            (event["stage"][-3:], event["host_memory"])
            for event in events
            if event["stage"] in ("cuda_copy_h2d", "cuda_copy_d2h")
        )
        self.assertEqual(found, truth.copies())

    def assert_collectives(self, trace, truth):
        events = trace.report("dump", "--limit=all")["events"]
        calls = collections.Counter(event["event"] for event in events)
        for name in NCCL:
            self.assertEqual(calls[name], truth.calls[name], name)
        self.assertEqual(calls["ncclBroadcast"], truth.count("ncclBroadcast ncclBcast"))

    def assert_near(self, reported, true):
        """Within 1%, and what two readings of a clock may differ by."""
        self.assertLessEqual(abs(reported - true), true / 100 + 50, (reported, true))

    def assert_gpu_time(self, trace, truth):
        """By CUPTI's records, in all and by phase; returns the rows of `kernels`."""
        rows = trace.report("kernels", "--limit=all")["kernels"]
        self.assert_near(sum(row["total_ns"] for row in rows), truth.busy_ns())
        return rows

    def assert_phases(self, rows, gpu_ns):
        for part in ("forward", "backward", "optimizer", "other"):
            self.assert_near(sum(row[part + "_ns"] for row in rows), gpu_ns[part])
