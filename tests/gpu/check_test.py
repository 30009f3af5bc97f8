"""What check.py makes of a trace of torch.profiler, and of results that break a promise."""

import json
import os
import tempfile
import unittest

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
        calls, kernels = self.read(EVENTS)
        wanted = {"launches": 3, "graph_launches": 1, "copies": 1, "sets": 1, "waits": 1}
        self.assertEqual(calls, wanted)
        self.assertEqual(kernels, {"calls": 1, "total_ns": 2500})

    def test_no_window(self):
        with self.assertRaises(check.Failure):
            self.read(EVENTS[1:])


class Judge(unittest.TestCase):
    def judge(self, ratio=1.0, lost=0, cost=0.0, error=None, cupti=None):
        done = {"compared": {"launches": {"ratio": ratio}, "events_lost": lost}}
        done["overhead"] = {"overhead_median": cost}
        if cupti:
            done["cupti"] = cupti
        if error:
            done = {"error": error}
        return check.judge({"dry_run": False, "workloads": {"resnet/eager": done}})

    def test_promises(self):
        self.assertEqual(self.judge(), [])
        self.assertEqual(self.judge(ratio=None), [])
        self.assertEqual(len(self.judge(ratio=0.98)), 1)
        self.assertEqual(len(self.judge(lost=1)), 1)
        self.assertEqual(len(self.judge(cost=0.02)), 1)
        self.assertEqual(len(self.judge(error="status 1")), 1)

    def test_kernels(self):
        good = {"calls_ratio": 1.005, "time_ratio": 0.97, "beside_ratio": 1.0}
        self.assertEqual(self.judge(cupti=good), [])
        self.assertEqual(self.judge(cupti={name: None for name in good}), [])
        for name in good:
            self.assertEqual(len(self.judge(cupti={**good, name: 0.9})), 1, name)


if __name__ == "__main__":
    unittest.main()
