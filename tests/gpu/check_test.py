"""What check.py makes of a trace of torch.profiler, and of results that break a promise."""

import json
import os
import subprocess
import sys
import tempfile
import time
import types
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "exact"))

import check


def event(name, cat, ts, correlation=None, dur=1.0):
    args = {} if correlation is None else {"correlation": correlation}
    return {"ph": "X", "name": name, "cat": cat, "ts": ts, "dur": dur, "args": args}


EVENTS = [
    event(check.WINDOW, "user_annotation", 100.0, dur=50.0),
    event("cudaLaunchKernel", "cuda_runtime", 99.0, 1),  # before the window
    event("cudaLaunchKernel", "cuda_runtime", 100.0, 2),
    event("cuLaunchKernel", "cuda_driver", 100.5, 2),  # inside the runtime's
    event("cuLaunchKernelEx", "cuda_driver", 110.0, 3),
    event("cudaLaunchCooperativeKernel", "cuda_runtime", 111.0, 4),
    event("cudaMemcpyAsync", "cuda_runtime", 112.0, 5),
    event("cudaMemsetAsync", "cuda_runtime", 113.0, 6),
    event("cudaStreamSynchronize", "cuda_runtime", 114.0, 7),
    event("cudaGraphLaunch", "cuda_runtime", 115.0, 8),
    event("cudaStreamWaitEvent", "cuda_runtime", 116.0, 9),
    event("cudaDeviceSynchronize", "cuda_runtime", 150.0, 10),  # after it
    event("gemm", "kernel", 160.0, 3, dur=2.5),  # launched inside, ran later
    event("other", "kernel", 140.0, 1, dur=7.0),
    {"ph": "M", "name": "process_name"},
]


class Kineto(unittest.TestCase):
    def read(self, events):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kineto.json")
            with open(path, "w") as file:
                json.dump({"traceEvents": events}, file)
            return check.kineto_calls(path)

    def test_calls_in_the_window_once_each(self):
        calls, kernels, _ = self.read(EVENTS)
        wanted = {"launches": 3, "graph_launches": 1, "copies": 1, "sets": 1, "waits": 1}
        self.assertEqual(calls, wanted)
        self.assertEqual(kernels, {"calls": 1, "total_ns": 2500})

    def test_time_on_the_gpu(self):
        """Works that overlap count once; what other steps launched does not."""
        works = [
            event("gemm", "kernel", 160.0, 3, dur=2.5),
            event("Memcpy HtoD", "gpu_memcpy", 161.0, 5, dur=3.0),
            event("Memset", "gpu_memset", 170.0, 6, dur=1.0),
            event("other", "kernel", 180.0, 10, dur=7.0),
        ]
        gpu = self.read([e for e in EVENTS if e.get("cat") != "kernel"] + works)[2]
        self.assertEqual(gpu, {"busy_ns": 5000, "extent_ns": 11000})
        self.assertEqual(self.read(EVENTS[:3])[2], {"busy_ns": 0, "extent_ns": 0})

    def test_no_window(self):
        with self.assertRaises(check.Failure):
            self.read(EVENTS[1:])


class Judge(unittest.TestCase):
    def judge(self, ratio=1.0, lost=0, cost=0.0, error=None, cupti=None, pairs=9, gpu=None, steps=None, events=None, **groups):
        done = {"compared": {"launches": {"ratio": ratio}, "events_lost": lost}}
        done["compared"].update({name: {"stageprof": a, "profiler": b} for name, (a, b) in groups.items()})
        if gpu:
            done["compared"]["gpu_time"] = dict(zip(("stageprof_ns", "profiler_busy_ns", "profiler_extent_ns"), gpu))
            done["compared"]["gpu_time"]["spans_given_up"] = 0
        if steps is not None:
            done["compared"].update({"steps": 50, "steps_seen": {"count": steps, "end_with": "graph"}})
        done["overhead"] = {"overhead_median": cost}
        if events:
            done["overhead"]["events_quartiles"] = events
        if cupti:
            done["cupti"] = cupti
        if error:
            done = {"error": error}
        return check.judge({"dry_run": False, "pairs": pairs, "workloads": {"resnet/eager": done}})

    def test_promises(self):
        self.assertEqual(self.judge(), [])
        self.assertEqual(self.judge(ratio=None), [])
        self.assertEqual(len(self.judge(ratio=0.98)), 1)
        self.assertEqual(len(self.judge(lost=1)), 1)
        self.assertEqual(len(self.judge(cost=0.02)), 1)
        self.assertEqual(len(self.judge(error="status 1")), 1)

    def test_enough_pairs(self):
        self.assertEqual(len(self.judge(pairs=8)), 1)

    def test_steps(self):
        for steps, broken in ((0, 1), (47, 1), (48, 0), (50, 0), (52, 0), (53, 1)):
            self.assertEqual(len(self.judge(steps=steps)), broken, steps)

    def test_events_on_the_streams(self):
        for least, broken in ((-0.002, 0), (0.0009, 0), (0.0012, 1)):
            self.assertEqual(len(self.judge(events=[least, 0.005])), broken, least)

    def test_other_calls(self):
        for group in ("graph_launches", "copies", "sets", "waits"):
            self.assertEqual(self.judge(**{group: (1000, 1000)}), [])
            self.assertEqual(self.judge(**{group: (9, 11)}), [], "a window's edges")
            for ours in (980, 1020, 0):
                self.assertEqual(len(self.judge(**{group: (ours, 1000)})), 1, (group, ours))

    def test_time_on_the_gpu(self):
        self.assertEqual(self.judge(gpu=(None, 5000, 6000)), [], "not known is no failure")
        for ours, broken in ((4000, 1), (4900, 0), (5500, 0), (6100, 0), (7000, 1), (0, 1)):
            self.assertEqual(len(self.judge(gpu=(ours, 5000, 6000))), broken, ours)

    def test_kernels(self):
        good = {"calls_ratio": 1.005, "time_ratio": 0.97, "beside_ratio": 1.0}
        self.assertEqual(self.judge(cupti=good), [])
        self.assertEqual(self.judge(cupti={name: None for name in good}), [])
        for name in good:
            self.assertEqual(len(self.judge(cupti={**good, name: 0.9})), 1, name)


class Recorded(unittest.TestCase):
    """A program on the fake device, and a trace of torch.profiler's made from that program's own account."""

    NAMES = {
        "cuda_launch": "cudaLaunchKernel",
        "cuda_graph_launch": "cudaGraphLaunch",
        "cuda_copy_h2d": "cudaMemcpyAsync",
        "cuda_copy_d2h": "cudaMemcpyAsync",
        "cuda_copy_d2d": "cudaMemcpyAsync",
        "cuda_copy_other": "cudaMemcpyAsync",
        "cuda_memset": "cudaMemsetAsync",
        "cuda_sync": "cudaStreamSynchronize",
        "cuda_stream": "cudaEventRecord",
    }

    def setUp(self):
        if not os.environ.get("STAGEPROF_TEST_VICTIMS"):
            self.skipTest("STAGEPROF_TEST_VICTIMS names no programs")
        import harness

        self.harness = harness
        holder = tempfile.TemporaryDirectory(prefix="stageprof-check-")
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def record(self):
        """The check, the program's own calls by name, and when it ran."""
        options = types.SimpleNamespace(
            library=os.environ["STAGEPROF_TEST_LIB"], report=os.environ["STAGEPROF_TEST_REPORT"]
        )
        tool = check.Check(options, self.folder)
        tally = self.harness.Tally(os.path.join(self.folder, "tally"))
        output = os.path.join(self.folder, "run.zst")
        env = {**tool.traced(output), "TALLY": tally.path, "LD_LIBRARY_PATH": os.environ["STAGEPROF_TEST_FAKE"]}
        begin = time.time_ns()
        subprocess.run([self.harness.victim("cuda_calls13"), "2", "5"], env=env, stdout=subprocess.DEVNULL, check=True)
        return tool, output, tally.rows(), begin, time.time_ns()

    def kineto(self, rows):
        events, number = [event(check.WINDOW, "user_annotation", 0.0, dur=1e9)], 0
        for row in rows:
            for _ in range(row.calls if row.stage in self.NAMES else 0):
                number += 1
                events.append(event(self.NAMES[row.stage], "cuda_runtime", float(number), number))
        path = os.path.join(self.folder, "kineto.json")
        with open(path, "w") as file:
            json.dump({"traceEvents": events}, file)
        return check.kineto_calls(path)[0]

    def judge(self, stages, theirs):
        compared = {"events_lost": 0, **check.compare_calls(stages, theirs)}
        return check.judge({"dry_run": False, "workloads": {"made": {"compared": compared}}})

    def test_the_same_calls_and_planted_differences(self):
        tool, output, rows, begin, end = self.record()
        stages, whole = tool.window(output, begin, end)
        theirs = self.kineto(rows)
        self.assertEqual(whole["events_lost"], 0)
        self.assertGreater(min(theirs.values()), 0)
        compared = check.compare_calls(stages, theirs)
        self.assertEqual({g: compared[g]["stageprof"] for g in theirs}, theirs)
        self.assertEqual(self.judge(stages, theirs), [])
        for group in theirs:
            more = {**theirs, group: theirs[group] + max(3, theirs[group] // 50)}
            self.assertEqual(len(self.judge(stages, more)), 1, group)
        before, _ = tool.window(output, begin - 10**9, begin)
        self.assertEqual([row for row in before.values() if row["calls"]], [], "outside of the window")


if __name__ == "__main__":
    unittest.main()
