# SPDX-License-Identifier: Apache-2.0
"""kineto.py with a trace of torch.profiler, and judge.py with results that break a
promise.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import types
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "exact"))

import judge
import kineto
import measure

MS = 1000.0  # of Kineto's microseconds


def event(name, cat, ts, correlation=None, dur=1.0, tid=1, **args):
    if correlation is not None:
        args["correlation"] = correlation
    return {"ph": "X", "name": name, "cat": cat, "ts": ts, "dur": dur, "tid": tid, "args": args}


def window(begin=100 * MS, dur=50 * MS):
    return event(kineto.WINDOW, "user_annotation", begin, dur=dur)


EVENTS = [
    window(),
    event("cudaLaunchKernel", "cuda_runtime", 80 * MS, 1),  # before the window
    event("cudaLaunchKernel", "cuda_runtime", 100 * MS, 2),
    event("cuLaunchKernel", "cuda_driver", 100 * MS + 0.5, 2, dur=0.2),  # inside the runtime's
    event("cuLaunchKernelEx", "cuda_driver", 110 * MS, 3),
    event("cudaLaunchCooperativeKernel", "cuda_runtime", 111 * MS, 4),
    event("cudaMemcpyAsync", "cuda_runtime", 112 * MS, 5),
    event("cudaMemsetAsync", "cuda_runtime", 113 * MS, 6),
    event("cudaStreamSynchronize", "cuda_runtime", 114 * MS, 7),
    event("cudaGraphLaunch", "cuda_runtime", 115 * MS, 8),
    event("cudaStreamWaitEvent", "cuda_runtime", 116 * MS, 9),
    event("cudaDeviceSynchronize", "cuda_runtime", 171 * MS, 10),  # after it
    event("gemm", "kernel", 160 * MS, 3, dur=2.5),  # launched inside, ran later
    event("other", "kernel", 140 * MS, 1, dur=7.0),
    {"ph": "M", "name": "process_name"},
]


def read(events):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kineto.json")
        with open(path, "w") as file:
            json.dump({"traceEvents": events}, file)
        return kineto.read(path)


class Kineto(unittest.TestCase):
    def calls(self, *events):
        """For each group with calls: their number, and the work that no call explains."""
        found = read([window(), *events])
        return {
            g: (n, found["by_work"][g])
            for g, n in found["calls"].items()
            if n or found["by_work"][g]
        }

    def test_calls_in_the_window_once_each(self):
        found = read(EVENTS)
        wanted = {"launches": 3, "graph_launches": 1, "copies": 1, "sets": 1, "waits": 1}
        self.assertEqual(found["calls"], wanted)
        self.assertEqual(sum(found["by_work"].values()), 0)
        self.assertEqual(found["kernels"], {"calls": 1, "total_ns": 2500})
        self.assertEqual(found["names"]["others"], {"cudaStreamWaitEvent": 1})

    def test_every_name_of_a_launch(self):
        for name, cat in (
            ("cudaLaunchKernel", "cuda_runtime"),
            ("cudaLaunchKernel_ptsz", "cuda_runtime"),
            ("cudaLaunchKernel_v7000", "cuda_runtime"),
            ("__cudaLaunchKernel", "cuda_runtime"),
            ("__cudaLaunchKernel_v13000", "cuda_runtime"),
            ("__cudaLaunchKernel_ptsz_v13000", "cuda_runtime"),
            ("cudaLaunchKernelExC", "cuda_runtime"),
            ("cudaLaunchKernelExC_v11060", "cuda_runtime"),
            ("cuLaunchKernel", "cuda_driver"),
            ("cuLaunchKernelEx", "cuda_driver"),
            ("cuLaunchKernelEx_ptsz", "cuda_driver"),
            ("cuLaunchCooperativeKernel", "cuda_driver"),
        ):
            self.assertEqual(self.calls(event(name, cat, 101 * MS, 1)), {"launches": (1, 0)}, name)
        for name, group in (
            ("cudaGraphLaunch_v10000", "graph_launches"),
            ("cuGraphLaunch_ptsz", "graph_launches"),
            ("cudaMemcpyFromSymbolAsync", "copies"),
            ("cuMemcpyDtoHAsync_v2", "copies"),
            ("cudaMemset2DAsync", "sets"),
            ("cuMemsetD32Async", "sets"),
            ("cudaEventSynchronize_v3020", "waits"),
            ("cuCtxSynchronize_v2", "waits"),
        ):
            self.assertEqual(
                self.calls(event(name, "cuda_runtime", 101 * MS, 1)), {group: (1, 0)}, name
            )
        for name in (
            "cudaLaunchHostFunc",
            "cudaStreamWaitEvent",
            "cudaMallocAsync",
            "cudaGraphInstantiate",
            "INVALID",
        ):
            self.assertEqual(self.calls(event(name, "cuda_runtime", 101 * MS, 1)), {}, name)

    def test_a_name_that_kineto_does_not_know(self):
        """A call of CUDA 13 in a PyTorch whose table of names ends with CUDA 12.0."""
        call = event("INVALID", "cuda_runtime", 101 * MS, 1)
        for cat, group in (
            ("kernel", "launches"),
            ("gpu_memcpy", "copies"),
            ("gpu_memset", "sets"),
        ):
            self.assertEqual(self.calls(call, event("x", cat, 102 * MS, 1)), {group: (1, 0)})
        replay = event("x", "kernel", 102 * MS, 1, **{"graph node id": 7})
        self.assertEqual(self.calls(call, replay, replay), {"graph_launches": (1, 0)})

    def test_work_without_a_call(self):
        """Kineto has only the work of the driver's other calls."""
        works = [
            event("x", "gpu_memset", 101 * MS, 1),
            event("x", "kernel", 102 * MS, 2),
            event("x", "kernel", 103 * MS, 3, **{"graph node id": 1}),
            event("y", "kernel", 104 * MS, 3, **{"graph node id": 2}),
            event("x", "kernel", 80 * MS, 4),
            event("x", "kernel", 171 * MS, 5),
        ]
        self.assertEqual(
            self.calls(*works), {"launches": (0, 1), "graph_launches": (0, 1), "sets": (0, 1)}
        )

    def test_the_outer_call_counts(self):
        """The inner driver call is not counted; on another thread it is.
        """
        outer = event("cudaLaunchKernelExC", "cuda_runtime", 101 * MS, 1, dur=5.0)
        inner = event("cuLaunchKernelEx", "cuda_driver", 101 * MS + 1, 2, dur=2.0)
        self.assertEqual(self.calls(outer, inner), {"launches": (1, 0)})
        self.assertEqual(
            self.calls(outer, inner, event("x", "kernel", 110 * MS, 2)), {"launches": (1, 0)}
        )
        self.assertEqual(self.calls(outer, {**inner, "tid": 2}), {"launches": (2, 0)})
        self.assertEqual(self.calls(outer, {**inner, "ts": 101 * MS + 6}), {"launches": (2, 0)})

    def test_time_on_the_gpu(self):
        """Works that overlap count once; what other steps launched does not."""
        works = [
            event("gemm", "kernel", 160 * MS, 3, dur=2.5),
            event("Memcpy HtoD", "gpu_memcpy", 160 * MS + 1, 5, dur=3.0),
            event("Memset", "gpu_memset", 160 * MS + 10, 6, dur=1.0),
            event("other", "kernel", 180 * MS, 10, dur=7.0),
        ]
        gpu = read([e for e in EVENTS if e.get("cat") != "kernel"] + works)["gpu"]
        self.assertEqual((gpu["busy_ns"], gpu["extent_ns"]), (5000, 11000))
        gpu = read(EVENTS[:3])["gpu"]
        self.assertEqual((gpu["busy_ns"], gpu["extent_ns"]), (0, 0))

    def test_graphs_apart_from_what_is_between_them(self):
        """40 graphs of 2 ms with a gap of 0.1 ms in each, and a copy of 0.8 ms ahead of each."""
        events, at = [window(dur=500 * MS)], 100 * MS
        for i in range(40):
            events += [
                event("cudaMemcpyAsync", "cuda_runtime", at, 2 * i + 1),
                event("cudaGraphLaunch", "cuda_runtime", at + 2, 2 * i + 2),
                event("Memcpy", "gpu_memcpy", at + 10, 2 * i + 1, dur=800.0),
                event("a", "kernel", at + 900, 2 * i + 2, dur=1000.0),
                event("b", "kernel", at + 2000, 2 * i + 2, dur=1000.0),
            ]
            at += 4 * MS
        gpu = read(events)["gpu"]
        self.assertEqual(gpu["graph_launches"], 40)
        self.assertEqual(gpu["graph_busy_ns"], 80_000_000)
        self.assertEqual(gpu["graph_extent_ns"], 84_000_000)
        self.assertEqual(gpu["outside_graphs_ns"], 32_000_000)
        self.assertEqual(gpu["busy_ns"], 112_000_000)

    def test_no_window(self):
        with self.assertRaises(kineto.NoWindow):
            read(EVENTS[1:])


def calls(ours, theirs, by_work=0):
    return {"stageprof": ours, "profiler": theirs, "by_work": by_work}


def results(name="resnet/eager", compared=None, not_reached=(), built_here=None, **parts):
    done = dict(parts)
    if compared is not None:
        done["compared"] = {
            "steps": 50,
            "events_lost": 0,
            "steps_seen": {"count": 50, "end_with": "optimizer"},
            "calls": {group: calls(1000, 1000) for group in kineto.GROUPS},
            "gpu_time": gpu_time(5500),
            **compared,
        }
    return {
        "conditions": {"dry_run": False},
        "workloads": {name: done},
        "built_here": built_here or {},
        "not_reached": list(not_reached),
    }


def gpu_time(ours, of="all", given_up=0, spans=0, **profiler):
    theirs = {
        "busy_ns": 5000,
        "extent_ns": 6000,
        "graph_busy_ns": 0,
        "graph_extent_ns": 0,
        **profiler,
    }
    return {
        "of": of,
        "stageprof_ns": ours,
        "spans": spans,
        "spans_given_up": given_up,
        "reason": "no CUDA call was seen",
        "profiler": theirs,
    }


class Judge(unittest.TestCase):
    def verdict(self, name="resnet/eager", compared=None, **more):
        found = judge.judge(results(name, compared, **more))
        return "broken" if found.broken else "undecided" if found.undecided else "held"

    def of_calls(self, group, *row, name="resnet/eager"):
        made = results(name, {})["workloads"][name]["compared"]["calls"]
        return self.verdict(name, {"calls": {**made, group: calls(*row)}})

    def test_promises(self):
        self.assertEqual(self.verdict(compared={}), "held")
        self.assertEqual(self.verdict(compared={"events_lost": 1}), "broken")
        self.assertEqual(self.verdict(errors={"compared": "Failure: status 1"}), "broken")
        self.assertEqual(self.verdict(not_checked={"compared": "no compiler"}), "undecided")
        self.assertEqual(
            self.verdict(compared={}, not_reached=["resnet/amp: compared"]), "undecided"
        )

    def test_calls_of_each_group(self):
        for group in kineto.GROUPS:
            for ours, verdict in (
                (1000, "held"),
                (991, "held"),
                (1009, "held"),
                (980, "broken"),
                (1020, "broken"),
            ):
                self.assertEqual(self.of_calls(group, ours, 1000), verdict, (group, ours))
            for ours in (0, 110, 2000, 20000):
                self.assertEqual(self.of_calls(group, ours, 1000), "broken", (group, ours))
            self.assertEqual(self.of_calls(group, 9, 11), "held", "a window's edges")

    def test_zero_on_their_side(self):
        for name, needed in (
            ("resnet/eager", ["launches", "copies", "waits"]),
            ("resnet/compile", ["launches", "copies", "waits"]),
            ("resnet/graph", ["graph_launches", "copies", "waits"]),
        ):
            for group in kineto.GROUPS:
                wanted = "broken" if group in needed else "held"
                self.assertEqual(self.of_calls(group, 0, 0, name=name), wanted, (name, group))
            self.assertEqual(self.of_calls("sets", 50, 0, name=name), "broken")

    def test_steps(self):
        for steps, verdict in (
            (0, "broken"),
            (47, "broken"),
            (48, "held"),
            (52, "held"),
            (53, "broken"),
        ):
            self.assertEqual(
                self.verdict(compared={"steps_seen": {"count": steps, "end_with": "graph"}}),
                verdict,
                steps,
            )

    def test_time_on_the_gpu(self):
        self.assertEqual(self.verdict(compared={"gpu_time": gpu_time(None)}), "undecided")
        self.assertEqual(
            self.verdict(compared={"gpu_time": gpu_time(100, given_up=1)}), "undecided"
        )
        for ours, verdict in (
            (4600, "broken"),
            (4700, "held"),
            (6100, "held"),
            (7000, "broken"),
            (0, "broken"),
        ):
            self.assertEqual(self.verdict(compared={"gpu_time": gpu_time(ours)}), verdict, ours)

    def test_graphs_are_held_against_graphs(self):
        """Copies between them are in torch.profiler's busy time, and in no stretch of ours."""
        theirs = {
            "busy_ns": 112_000_000,
            "graph_busy_ns": 80_000_000,
            "graph_extent_ns": 84_000_000,
        }
        for ours, verdict in (
            (80, "held"),
            (86, "held"),
            (70, "broken"),
            (112, "broken"),
            (0, "broken"),
        ):
            graphs = gpu_time(ours * 1_000_000, "graphs", spans=40, **theirs)
            self.assertEqual(self.verdict("resnet/graph", {"gpu_time": graphs}), verdict, ours)

    def test_kernels(self):
        good = {"calls_ratio": 1.005, "time_ratio": 0.97, "beside_ratio": 1.0}
        said = {"stageprof": {"calls": 9}, "coverage": [["bound", "CUPTI 26"]]}
        self.assertEqual(self.verdict(cupti={**said, **good}), "held")
        for name in good:
            self.assertEqual(self.verdict(cupti={**said, **good, name: 0.9}), "broken", name)
            self.assertEqual(self.verdict(cupti={**said, **good, name: None}), "broken", name)
        refused = {"stageprof": {"calls": 0}, "coverage": [["failed", "not permitted"]]}
        self.assertEqual(self.verdict(cupti={**refused, **good, "calls_ratio": 0.0}), "undecided")

    def test_programs(self):
        for program, verdict in (
            ({"passed": True}, "held"),
            ({"passed": False}, "broken"),
            ({"not_checked": "no nvcc"}, "undecided"),
        ):
            self.assertEqual(self.verdict(built_here={"static": program}), verdict)


def rounds(total, events):
    """One with each pair of ratios."""
    return [
        {
            "plain": {"wall_ns": 1e9, "ten_steps_ns": 1e7},
            "traced": {"wall_ns": 1e9 * (1 + t), "ten_steps_ns": 1e7},
            "without_events": {"wall_ns": 1e9, "ten_steps_ns": 1e7 / (1 + e)},
        }
        for t, e in zip(total, events)
    ]


class Cost(unittest.TestCase):
    def lines(self, total, events):
        found = judge.judge(results(overhead=judge.costs(rounds(total, events))))
        return len(found.broken), len(found.undecided)

    def test_where_the_median_lies(self):
        self.assertEqual(judge.median_interval([]), (None, None))
        self.assertEqual(judge.median_interval([1, 2, 3, 4, 5]), (None, None))
        self.assertEqual(judge.median_interval([6, 1, 2, 3, 4, 5]), (1, 6))
        self.assertEqual(judge.median_interval([9, 8, 7, 6, 5, 4, 3, 2, 1]), (2, 8))
        self.assertEqual(judge.median_interval(range(20)), (5, 14))

    def test_verdicts_only_where_the_spread_allows(self):
        small, none = [0.004] * 9, [0.0] * 9
        self.assertEqual(self.lines(small, none), (0, 0))
        self.assertEqual(self.lines([0.02] * 9, none), (1, 0))
        self.assertEqual(self.lines(small, [0.002] * 9), (1, 0))
        self.assertEqual(self.lines([0.0, 0.02] * 4 + [0.0], none), (0, 1), "not told apart")
        self.assertEqual(self.lines(small, [-0.002, 0.002] * 4 + [0.0]), (0, 1))
        self.assertEqual(
            self.lines([0.5] + small[1:], none), (0, 0), "one round that was disturbed"
        )

    def test_too_few_rounds(self):
        self.assertEqual(self.lines([0.004] * 5, [0.0] * 5), (0, 2))
        self.assertEqual(self.lines([0.004] * 8, [0.0] * 8), (0, 2))
        self.assertEqual(self.lines([0.02] * 8, [0.0] * 8), (1, 1))


class Recorded(unittest.TestCase):
    """A program on the fake device, and a trace of torch.profiler's made of its own account."""

    NAMES = {
        "cuda_launch": "__cudaLaunchKernel",
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

    def record(self, program, *arguments):
        """The tool, the program's own calls by name, and when it ran."""
        options = types.SimpleNamespace(
            preloaded=os.environ["STAGEPROF_TEST_LIB"], report=os.environ["STAGEPROF_TEST_REPORT"]
        )
        tool = measure.Measure(options, self.folder)
        tally = self.harness.Tally(os.path.join(self.folder, "tally"))
        fake = os.environ["STAGEPROF_TEST_FAKE"]
        env = {**tool.traced(TALLY=tally.path), "LD_LIBRARY_PATH": f"{fake}:{fake}/13"}
        command = [self.harness.victim(program), *arguments]
        begin = time.time_ns()
        subprocess.run(command, env=env, stdout=subprocess.DEVNULL, check=True)
        return tool, tally, {"begin_ns": begin, "end_ns": time.time_ns()}

    def kineto(self, rows):
        events, number = [window(0.0, 1e9)], 0
        for row in rows:
            for _ in range(row.calls if row.stage in self.NAMES else 0):
                number += 1
                events.append(
                    event(self.NAMES[row.stage], "cuda_runtime", float(number), number, dur=0.5)
                )
        return read(events)

    def compared(self, tool, said, theirs):
        answer = tool.measured(said, "stages")
        return measure.compare_calls({row["stage"]: row for row in answer["stages"]}, theirs)

    def test_the_same_calls_and_planted_differences(self):
        tool, tally, said = self.record("cuda_calls13", "2", "5")
        theirs = self.kineto(tally.rows())
        self.assertGreater(min(theirs["calls"].values()), 0)
        compared = self.compared(tool, said, theirs)
        self.assertEqual({g: compared[g]["stageprof"] for g in compared}, theirs["calls"])
        self.assertEqual(judge.judge(results(compared={"calls": compared})).broken, [])
        for group, row in compared.items():
            for sign in (-1, 1):
                other = {**row, "profiler": row["profiler"] + sign * max(3, row["profiler"] // 50)}
                found = judge.judge(results(compared={"calls": {**compared, group: other}}))
                self.assertGreaterEqual(len(found.broken), 1, (group, sign))
        before = tool.measured(
            {"begin_ns": said["begin_ns"] - 10**9, "end_ns": said["begin_ns"]}, "stages"
        )
        self.assertEqual(
            [row for row in before["stages"] if row["calls"]], [], "outside of the window"
        )

    def test_steps_that_are_graphs(self):
        """Three kernels of 2 ms in each, and between them copies, which torch.profiler has as busy.
        """
        tool, _, said = self.record("graph_steps", "50", "2", "1")
        events = [window(0.0, 1e9)]
        for i in range(50):
            at, launch, copy = i * 20 * MS, 2 * i + 1, 2 * i + 2
            events.append(event("cudaGraphLaunch", "cuda_runtime", at, launch))
            events.append(event("cudaMemcpyAsync", "cuda_runtime", at + 2, copy))
            events += [event("k", "kernel", at + k * 3 * MS, launch, dur=2 * MS) for k in range(3)]
            events.append(event("Memcpy HtoD", "gpu_memcpy", at + 12 * MS, copy, dur=5 * MS))
        summary, theirs = tool.measured(said, "summary"), read(events)["gpu"]
        gpu = tool.gpu_time(summary, theirs)
        self.assertEqual((gpu["of"], theirs["graph_launches"]), ("graphs", 50))
        self.assertEqual(judge.judge(results(compared={"gpu_time": gpu})).broken, [])
        found = judge.judge(results(compared={"gpu_time": {**gpu, "of": "all"}}))
        self.assertEqual(len(found.broken), 1, "with the copies")


if __name__ == "__main__":
    unittest.main()
