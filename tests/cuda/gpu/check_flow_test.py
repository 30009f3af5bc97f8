# SPDX-License-Identifier: Apache-2.0
"""The results of check.py after failures, with a trainer, a report and a PyTorch made of words.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = ("check.py", "judge.py", "kineto.py", "measure.py", "results.py")

TORCH = """
__version__ = os_name = "2.11.0+cu130"
class version: cuda = "13.0"
class cuda:
    is_available = staticmethod(lambda: True)
    get_device_name = staticmethod(lambda: "a GPU")
"""

# 100 calls of each group. FAILS: a workload that does so, under the tracer or always. SLOW: seconds
# that each training takes.
TRAIN = """
import json, os, sys, time
options = dict(o[2:].split("=", 1) for o in sys.argv[1:])
name = options["workload"] + "/" + options["mode"]
traced = "LD_PRELOAD" in os.environ
with open(os.environ["LOG"], "a") as log:
    log.write(f"{name} {'kineto' in options}\\n")
time.sleep(float(os.environ.get("SLOW", 0)))
if os.environ.get("FAILS") == f"{name} always" or traced and os.environ.get("FAILS") == name:
    sys.exit("a reason")
if traced:
    os.mkdir(os.environ["STAGEPROF_OUTPUT"])
names = ["INVALID", "cudaGraphLaunch", "cudaMemcpyAsync", "cudaMemsetAsync", "cudaStreamSynchronize"]
event = lambda name, cat, ts, dur, **args: {"name": name, "cat": cat, "ts": ts, "dur": dur, "args": args}
events = [event("measured steps", "user_annotation", 0, 1e6)]
for i in range(500):
    events.append(event(names[i % 5], "cuda_runtime", i, 0.5, correlation=i + 1))
    if i % 5 == 0:
        events.append(event("gemm", "kernel", i + 0.5, 1, correlation=i + 1))
if "kineto" in options:
    json.dump({"traceEvents": events}, open(options["kineto"], "w"))
print(json.dumps({"begin_ns": 1, "end_ns": 2, "wall_ns": 10**9, "ten_steps_ns": 10**7}))
"""

REPORT = """#!/bin/sh
case $1 in
stages) echo '{"run": {"begin_realtime_ns": 0, "events_lost": 0}, "stages": [
	{"stage": "cuda_launch", "calls": 100, "total_ns": 1}, {"stage": "cuda_graph_launch", "calls": 100, "total_ns": 1},
	{"stage": "cuda_copy_h2d", "calls": 100, "total_ns": 1}, {"stage": "cuda_memset", "calls": 100, "total_ns": 1},
	{"stage": "cuda_sync", "calls": 100, "total_ns": 1}]}';;
summary) echo '{"steps": {"count": 50, "end_with": "optimizer"}, "account": [{"gpu_ns": 150000}], "coverage": [],
	"gpu_time": {"graph_ns": 0, "spans": 50, "spans_given_up": 0, "reason": null}}';;
kernels) echo '{"kernels": [{"stage": "gpu_kernel", "calls": 100, "total_ns": 100000}]}';;
esac
"""

ALL = [f"{w}/{m}" for m in ("eager", "graph", "amp", "compile") for w in ("resnet", "transformer")]


def put(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


class Flow(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="stageprof-flow-")
        self.addCleanup(holder.cleanup)
        self.folder = holder.name
        for name in SOURCES:
            shutil.copy(os.path.join(HERE, name), self.folder)
        put(self.at("train.py"), TRAIN)
        put(self.at("report"), REPORT, 0o755)
        put(self.at("library"), "")
        put(self.at("torch/__init__.py"), TORCH)
        put(self.at("bin/nvcc"), "#!/bin/sh\necho no compiler >&2\nexit 1\n", 0o755)
        os.mkdir(self.at("tmp"))
        self.env = {
            **{n: v for n, v in os.environ.items() if n != "LD_PRELOAD"},
            "LOG": self.at("log"),
            "PYTHONPATH": self.folder,
            "PATH": self.at("bin") + os.pathsep + os.environ["PATH"],
            "TMPDIR": self.at("tmp"),
        }

    def at(self, name):
        return os.path.join(self.folder, name)

    def command(self, *options):
        own = [
            f"--library={self.at('library')}",
            f"--report={self.at('report')}",
            f"--output={self.at('out.json')}",
        ]
        return [sys.executable, self.at("check.py"), *own, *options]

    def check(self, status, *options, **env):
        """The stderr and the file of one check."""
        done = subprocess.run(
            self.command(*options),
            env={**self.env, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=100,
        )
        said = done.stderr.decode()
        self.assertEqual(done.returncode, status, said)
        self.assertEqual(os.listdir(self.at("tmp")), [])
        return said, self.file() if os.path.exists(self.at("out.json")) else None

    def file(self, name="out.json"):
        with open(self.at(name)) as file:
            return json.load(file)

    def trained(self):
        """Name and whether under torch.profiler, in order."""
        if not os.path.exists(self.at("log")):
            return []
        with open(self.at("log")) as file:
            return [line.split() for line in file]

    def test_the_most_important_first(self):
        said, out = self.check(3, "--pairs=2", *(f"--only={name}" for name in ALL[:3]))
        self.assertEqual(self.trained()[:3], [[name, "True"] for name in ALL[:3]])
        pairs = [name for name, _ in self.trained()[5:23]]
        self.assertEqual(
            pairs, 2 * (3 * ["resnet/eager"] + 3 * ["transformer/eager"] + 3 * ["resnet/graph"])
        )
        self.assertEqual(out["broken"], [])
        self.assertEqual(out["not_reached"], [])
        self.assertEqual(
            out["workloads"]["resnet/eager"]["compared"]["calls"]["launches"]["names"],
            {"INVALID": 100},
        )
        self.assertEqual(out["workloads"]["resnet/eager"]["cupti"]["calls_ratio"], 1.0)
        self.assertIn("undecided: program with the static runtime not checked: no compiler", said)
        self.assertIn("2 rounds are too few", said)

    def test_a_program_whose_calls_fail(self):
        """A toolkit whose runtime finds no driver that it can use says nothing of the tracer."""
        builds = '#!/bin/sh\nprintf "#!/bin/sh\\necho cudaMalloc: 801\\n" > "$4" && chmod +x "$4"\n'
        put(self.at("bin/nvcc"), builds, 0o755)
        said, out = self.check(3, "--pairs=1", "--only=resnet/eager")
        self.assertEqual(out["broken"], [])
        for kind in ("shared", "static"):
            told = f"program with the {kind} runtime not checked: its calls fail without the tracer"
            self.assertIn(told, said)

    def test_one_workload_that_fails(self):
        three = [f"--only={name}" for name in ALL[1:4]]
        _, out = self.check(1, "--pairs=1", *three, FAILS="resnet/graph")
        done = out["workloads"]["resnet/graph"]
        self.assertEqual(sorted(done["errors"]), ["compared", "round"])
        self.assertEqual(
            out["broken"], ["resnet/graph: compared: a reason", "resnet/graph: round: a reason"]
        )
        for name in ALL[1:4]:
            self.assertEqual("compared" in out["workloads"][name], name != "resnet/graph", name)
        _, out = self.check(3, "--pairs=1", *three)
        self.assertIn("compared", out["workloads"]["resnet/graph"], "tried again")

    def test_a_training_that_fails_by_itself(self):
        said, out = self.check(
            3, "--only=resnet/amp", "--only=resnet/compile", FAILS="resnet/compile always"
        )
        self.assertIn("resnet/compile: compared not checked: a reason", said)
        self.assertNotIn("errors", out["workloads"]["resnet/compile"])

    def test_a_report_that_fails(self):
        put(self.at("report"), "#!/bin/sh\necho no good >&2\nexit 1\n", 0o755)
        _, out = self.check(1, "--pairs=1", "--only=resnet/eager")
        self.assertIn("resnet/eager: compared: no good", out["broken"])
        self.assertEqual(len(out["workloads"]["resnet/eager"]["rounds"]), 1)

    def test_a_time_budget_and_the_rest_later(self):
        three = ["--pairs=2", *(f"--only={name}" for name in ALL[:3])]
        begin = time.monotonic()
        said, out = self.check(3, "--seconds=2", *three, SLOW="0.2")
        self.assertLess(time.monotonic() - begin, 5)
        self.assertIn("transformer/eager: compared", said)
        self.assertEqual(out["broken"], [])
        self.assertIn("compared", out["workloads"]["resnet/eager"])
        self.assertTrue([line for line in out["undecided"] if line.endswith("not reached")])
        _, out = self.check(3, *three)
        self.assertEqual(out["not_reached"], [])
        self.assertEqual(len(out["runs"]), 2)
        self.assertEqual([len(out["workloads"][name]["rounds"]) for name in ALL[:3]], [2, 2, 2])
        twice = [name for name, profiled in self.trained() if profiled == "True"].count(
            "resnet/eager"
        )
        self.assertEqual(twice, 2, "compared once, and once beside CUPTI")

    def test_a_training_that_never_ends(self):
        begin = time.monotonic()
        _, out = self.check(3, "--seconds=1", SLOW="50")
        self.assertLess(time.monotonic() - begin, 10)
        self.assertIn("resnet/eager: compared", out["not_reached"])

    def begun(self, **env):
        """A run of which two workloads are compared."""
        child = subprocess.Popen(
            self.command(), env={**self.env, "SLOW": "0.2", **env}, stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + 60
        while time.monotonic() < until and len(self.trained()) < 3:
            time.sleep(0.05)
        return child

    def test_killed_in_the_middle(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            child = self.begun()
            os.kill(child.pid, number)
            status = child.wait()
            self.assertEqual(status, -9 if number == signal.SIGKILL else 143)
            out = self.file()
            for name in ALL[:2]:
                self.assertEqual(
                    out["workloads"][name]["compared"]["calls"]["launches"]["stageprof"], 100
                )
            self.assertIn(f"{ALL[7]}: compared", out["not_reached"])
            if number == signal.SIGTERM:
                self.assertEqual(os.listdir(self.at("tmp")), [])
            for name in ("log", "out.json"):
                os.unlink(self.at(name))
            shutil.rmtree(self.at("tmp"))
            os.mkdir(self.at("tmp"))

    def test_joined_without_measuring(self):
        for name in ("resnet/amp", "transformer/amp"):
            self.check(3, f"--only={name}")
            os.rename(self.at("out.json"), self.at(name.replace("/", "-")))
        shutil.rmtree(self.at("torch"))
        before = self.trained()
        files = [
            f"--add={self.at(name)}" for name in ("resnet-amp", "transformer-amp", "resnet-amp")
        ]
        _, out = self.check(3, "--seconds=0", *files)
        self.assertEqual(self.trained(), before)
        self.assertEqual(
            [n for n in ALL if "compared" in out["workloads"][n]], ["resnet/amp", "transformer/amp"]
        )
        self.assertIn("resnet/eager: compared", out["not_reached"])
        self.assertEqual(len(out["runs"]), 2)

    def test_results_of_other_conditions(self):
        self.check(3, "--only=resnet/amp")
        before = self.file()
        said, _ = self.check(2, "--only=resnet/amp", "--batch=8")
        self.assertIn("batch was 32, and is 8", said)
        put(self.at("library"), "another")
        self.assertIn("library_sha256 was", self.check(2)[0])
        put(self.at("library"), "")
        put(self.at("other.json"), "{}")
        said, _ = self.check(2, f"--add={self.at('other.json')}")
        self.assertIn("other.json: its results cannot be added to", said)
        self.assertEqual(self.file(), before)

    def test_options_before_anything_is_measured(self):
        for option, words in (
            ("--pairs=0", "0 is not between"),
            ("--pairs=x", "invalid number value"),
            ("--only=resnet", "choose from"),
            ("--seconds=-1", "is not between"),
            ("--output=/nonexistent/folder/file", "name a file in a folder that can be written"),
            (f"--add={self.at('none')}", "No such file"),
            ("--seconds=0", "name some with --add"),
            ("--bogus", "unrecognized"),
            ("--only=resnet/amp --paired=resnet/eager", "not among those that --only names"),
        ):
            said, _ = self.check(2, *option.split())
            self.assertIn(words, said)
        self.assertEqual(self.trained(), [])
        self.assertEqual(self.check(0, "--help")[0], "")


if __name__ == "__main__":
    unittest.main()
