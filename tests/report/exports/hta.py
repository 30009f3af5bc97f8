# SPDX-License-Identifier: Apache-2.0
"""HolisticTraceAnalysis reads what export chrome writes: steps, categories, correlation of CUDA
calls.

It runs in build/venv-hta (scripts/requirements-hta.txt, which scripts/test --nightly installs); the
CUDA calls are those of a program on the device of tests/fake_cuda.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest

import runs

SKIP = 77
PYTHON = os.environ.get("STAGEPROF_TEST_HTA") or os.path.join(
    runs.ROOT, "build", "venv-hta", "bin", "python"
)

# Prints HTA's numbers of a file as JSON; runs under PYTHON.
ANALYSE = """
import json, logging, sys, warnings
warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, include_last_profiler_step=True)
frame, symbols = analysis.t.get_trace(0), analysis.t.symbol_table.get_sym_table()
frame["cat"] = frame["cat"].map(lambda i: symbols[i])
frame["called"] = frame["name"].map(lambda i: symbols[i])
json.dump({
    "steps": [int(i) for i in analysis.get_profiler_steps()] if (frame.called.str.startswith("ProfilerStep")).any() else [],
    "calls": {k: int(v) for k, v in frame.groupby("cat").size().items()},
    "us": {k: int(v) for k, v in frame.groupby("cat")["dur"].sum().items()},
    "correlation": [int(i) for i in frame[frame.cat.str.startswith("cuda_")]["correlation"]],
    "on_gpu": int((frame["stream"] >= 0).sum()),
    "in_step": {k: int(v) for k, v in frame[frame.iteration == 1].groupby("called")["dur"].sum().items()},
}, sys.stdout)
"""


# Prints HTA's numbers of the GPU alone.
ON_GPU = """
import json, logging, sys, warnings
warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, include_last_profiler_step=True)
types, kernels = analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=100, duration_ratio=1.0)
json.dump({
    "types": {r["kernel_type"]: float(r["sum"]) for r in types.to_dict("records")},
    "kernels": {r["name"]: [float(r["sum (us)"]), float(r["max (us)"])] for r in kernels.to_dict("records")},
    "temporal": analysis.get_temporal_breakdown(visualize=False).to_dict("records")[0],
    "launches": len(analysis.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)[0]),
}, sys.stdout)
"""


def analyse(run, script=ANALYSE):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json.gz")
        runs.report("export", "chrome", run, "-o", path)
        done = subprocess.run([PYTHON, "-c", script, path], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.decode().splitlines()[-1])


class Holistic(unittest.TestCase):
    def check_sums(self, seen, name):
        """HTA may leave out what begins after the last step, and keeps whole microseconds."""
        last = runs.view(name, "steps")["steps"][-1]
        least, most, ns, same = (
            collections.Counter(),
            collections.Counter(),
            collections.Counter(),
            0,
        )
        for event in runs.view(name, "dump")["events"]:
            if event["stage"] != "range":
                least[event["stage"]] += event["start_ns"] <= last["start_ns"] + last["wall_ns"]
                most[event["stage"]] += 1
                ns[event["stage"]] += event["dur_ns"]
        for stage in most:
            found = seen["calls"].get(stage, 0)
            self.assertTrue(
                least[stage] <= found <= most[stage], (stage, least[stage], found, most[stage])
            )
            if found == most[stage]:
                self.assertAlmostEqual(seen["us"][stage], ns[stage] / 1e3, delta=2 * found)
                same += 1
        self.assertGreater(same, 3)

    def test_real(self):
        seen = analyse(runs.run("real"))
        self.check_sums(seen, "real")
        steps = runs.view("real", "steps")["steps"]
        self.assertEqual(seen["steps"], [s["index"] for s in steps])
        self.assertAlmostEqual(
            seen["in_step"]["ProfilerStep#1"], steps[1]["wall_ns"] / 1e3, delta=2
        )
        self.assertTrue(any(name.startswith("Optimizer.step#") for name in seen["in_step"]))

    def test_killed(self):
        seen = analyse(runs.run("killed"))
        self.check_sums(seen, "killed")
        self.assertGreater(len(seen["steps"]), 5)

    def test_cuda(self):
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "cuda.zst")
            subprocess.run(
                [os.path.join(os.environ["STAGEPROF_TEST_VICTIMS"], "cuda_calls13"), "1", "5"],
                env={
                    "LD_LIBRARY_PATH": os.environ["STAGEPROF_TEST_FAKE"],
                    "LD_PRELOAD": os.environ["STAGEPROF_TEST_LIB"],
                    "STAGEPROF_OUTPUT": run,
                },
                stdout=subprocess.DEVNULL,
                cwd=folder,
                check=True,
            )
            seen = analyse(run)
            told = json.loads(runs.report("stages", "--format=json", run))["stages"]
        calls = sum(s["calls"] for s in told if s["stage"].startswith("cuda_"))
        self.assertGreater(calls, 500)
        self.assertEqual(seen["calls"]["cuda_runtime"] + seen["calls"].get("cuda_driver", 0), calls)
        times = collections.Counter(seen["correlation"])
        self.assertEqual((len(times), min(times) > 0), (calls, True))
        self.assertEqual(seen["on_gpu"], 0, "nothing on a GPU was observed")

    def test_gpu(self):
        """The GPU breakdowns of HolisticTraceAnalysis are our `kernels`, except that it keeps only
        the whole microseconds inside each, up to two less."""
        python = os.environ.get("STAGEPROF_TEST_PYTHON")
        if not python:
            self.skipTest("STAGEPROF_TEST_PYTHON names no Python with PyTorch")
        victims, fake = os.environ["STAGEPROF_TEST_VICTIMS"], os.environ["STAGEPROF_TEST_FAKE"]
        trainer = os.path.join(runs.ROOT, "tests", "cuda", "gpu_trainer.py")
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "gpu.zst")
            subprocess.run(
                [python, trainer, os.path.join(victims, "libgpu_kernels.so"), "12"],
                env={
                    "PATH": os.environ["PATH"],
                    "LD_LIBRARY_PATH": ":".join([fake, f"{fake}/13", f"{fake}/cupti13"]),
                    "LD_PRELOAD": os.environ["STAGEPROF_TEST_LIB"],
                    "STAGEPROF_OUTPUT": run,
                    "STAGEPROF_CUPTI": "1",
                },
                check=True,
            )
            seen = analyse(run, ON_GPU)
            told = json.loads(runs.report("kernels", "--format=json", run))
        rows = {row["name"]: row for row in told["kernels"]}
        collective = "ncclDevKernel_AllReduce_Sum_f32_RING()"
        for name in (
            "convol(float*, float*, int)",
            "gradient(float*, float*, int)",
            "sgd(float*, int, float)",
            collective,
        ):
            total_us, longest_us = seen["kernels"][name]
            self.assertAlmostEqual(
                total_us, rows[name]["total_ns"] / 1e3, delta=2 * rows[name]["calls"]
            )
            self.assertAlmostEqual(longest_us, rows[name]["max_ns"] / 1e3, delta=2)
        collective_ns = rows[collective]["total_ns"]
        computing = sum(row["total_ns"] for row in rows.values() if row["symbol"]) - collective_ns
        self.assertAlmostEqual(seen["types"]["COMPUTATION"], computing / 1e3, delta=100)
        self.assertAlmostEqual(seen["types"]["COMMUNICATION"], collective_ns / 1e3, delta=50)
        [device] = told["devices"]
        temporal = seen["temporal"]
        self.assertAlmostEqual(temporal["compute_time(us)"], computing / 1e3, delta=100)
        self.assertAlmostEqual(
            temporal["kernel_time(us)"] - temporal["idle_time(us)"],
            device["busy_ns"] / 1e3,
            delta=200,
        )
        self.assertEqual(seen["launches"], 5 * 12 + 12)


if not os.path.exists(PYTHON):
    print("skipped: no build/venv-hta: scripts/test --nightly makes it")
    sys.exit(SKIP)
unittest.main()
