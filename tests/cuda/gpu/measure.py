# SPDX-License-Identifier: Apache-2.0
"""The measurements of check.py: training with and without the tracer, torch.profiler and CUPTI;
programs.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import kineto

HERE = os.path.dirname(os.path.abspath(__file__))
PROCESS_MOST_S = 600
OUR_STAGES = {
    "launches": ["cuda_launch"],
    "graph_launches": ["cuda_graph_launch"],
    "copies": ["cuda_copy_h2d", "cuda_copy_d2h", "cuda_copy_d2d", "cuda_copy_other"],
    "sets": ["cuda_memset"],
    "waits": ["cuda_sync"],
}
# The calls of real.cu.
PROGRAM = {"cuda_launch": 5, "cuda_copy_h2d": 1, "cuda_copy_d2h": 1, "cuda_memset": 1}


class Failure(Exception):
    pass


class NotChecked(Exception):
    """Why something here cannot be measured, which is no fault of the tracer's."""


class NotReached(Exception):
    """The time is up."""


def compare_calls(stages, theirs):
    """By group: calls of the report's stages, and torch.profiler's with works that none explains.
    """
    result = {}
    for group, names in OUR_STAGES.items():
        rows = [stages[name] for name in names if name in stages]
        ours, there = (
            sum(row["calls"] for row in rows),
            theirs["calls"][group] + theirs["by_work"][group],
        )
        result[group] = {
            "stageprof": ours,
            "profiler": there,
            "by_work": theirs["by_work"][group],
            "ratio": ours / there if there else None,
            "names": theirs["names"].get(group, {}),
            "stageprof_host_ns": sum(row["total_ns"] for row in rows),
        }
    return result


class Measure:
    def __init__(self, options, folder, deadline=None):
        """deadline: of time.monotonic(), or None."""
        self.options, self.folder, self.deadline = options, folder, deadline
        self.env = {n: v for n, v in os.environ.items() if not n.startswith("STAGEPROF_")}
        self.output = os.path.join(folder, "run.zst")

    def run(self, command, env=None):
        """The standard output of a command, through a file, because its children may hold a pipe.
        The children are ended with the command."""
        left = PROCESS_MOST_S if self.deadline is None else self.deadline - time.monotonic()
        if left <= 0:
            raise NotReached
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            try:
                child = subprocess.Popen(
                    command,
                    env=env,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    preexec_fn=os.setpgrp,
                )
            except OSError as error:
                raise Failure(f"{command[0]}: {error.strerror}")
            try:
                status = child.wait(min(left, PROCESS_MOST_S))
            except subprocess.TimeoutExpired:
                if left <= PROCESS_MOST_S:
                    raise NotReached
                raise Failure(f"{' '.join(command)}: more than {PROCESS_MOST_S} s")
            finally:
                try:
                    os.killpg(child.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                child.wait()
            out.seek(0)
            err.seek(0)
            said = err.read()[-2000:].decode(errors="replace")
            is_empty = status == 1 and "[SP203]" in said  # no event is selected
            if status != 0 and not is_empty:
                raise Failure(f"{' '.join(command)}: status {status}:\n{said}")
            return out.read().decode(errors="replace")

    def traced(self, **more):
        shutil.rmtree(self.output, ignore_errors=True)
        return {
            **self.env,
            "LD_PRELOAD": self.options.preloaded,
            "STAGEPROF_OUTPUT": self.output,
            **more,
        }

    def train_once(self, env, name, steps, *more):
        workload, mode = name.split("/")
        command = [
            sys.executable,
            os.path.join(HERE, "train.py"),
            f"--workload={workload}",
            f"--mode={mode}",
            f"--steps={steps}",
            f"--warmup={self.options.warmup}",
            f"--batch={self.options.batch}",
            f"--device={'cpu' if self.options.dry_run else 'cuda'}",
            *more,
        ]
        return json.loads(self.run(command, env).splitlines()[-1])

    def train(self, env, name, steps, *more):
        """The output. A run that also fails without the tracer is no failure of the tracer."""
        try:
            return self.train_once(env, name, steps, *more)
        except Failure as failure:
            try:
                self.train_once(self.env, name, steps, *more)
            except NotReached:
                raise failure
            except Failure as plain:
                raise NotChecked(f"it fails without the tracer, too: {plain}")
            raise failure

    def report(self, view, *more):
        env = dict(self.env)
        libraries = os.path.join(os.path.dirname(self.options.report), "lib")
        if os.path.isdir(libraries):
            env["LD_LIBRARY_PATH"] = libraries
        return json.loads(
            self.run([self.options.report, view, "--format=json", *more, self.output], env)
        )

    def measured(self, said, view):
        """A view of the measured steps alone."""
        start = self.report("stages")["run"]["begin_realtime_ns"]
        seconds = [
            f"--{name}={(said[key] - start) / 1e9:.9f}"
            for name, key in (("from", "begin_ns"), ("to", "end_ns"))
        ]
        return self.report(view, *seconds)

    def compared(self, name, _):
        path = os.path.join(self.folder, "kineto.json")
        said = self.train(self.traced(), name, self.options.steps, f"--kineto={path}")
        theirs = kineto.read(path)
        answer, summary = self.measured(said, "stages"), self.measured(said, "summary")
        return {
            "steps": self.options.steps,
            "wall_ns": said["wall_ns"],
            "events_lost": answer["run"]["events_lost"],
            "trace_bytes": sum(entry.stat().st_size for entry in os.scandir(self.output)),
            "steps_seen": {key: summary["steps"][key] for key in ("count", "end_with")},
            "calls": compare_calls({stage["stage"]: stage for stage in answer["stages"]}, theirs),
            "other_calls": theirs["names"].get("others", {}),
            "profiler_kernels": theirs["kernels"],
            "gpu_time": self.gpu_time(summary, theirs["gpu"]),
        }

    def gpu_time(self, summary, theirs):
        """Streams busy with what these steps launched, by events; where each step is a graph, with
        graphs alone: what runs between them is in no stretch. None: not known."""
        told = summary["gpu_time"]
        parts = [row["gpu_ns"] for row in summary["account"] if row["gpu_ns"] is not None]
        graphs = summary["steps"]["end_with"] == "graph"
        return {
            "of": "graphs" if graphs else "all",
            "stageprof_ns": told["graph_ns"] if graphs else sum(parts) if parts else None,
            "spans": told["spans"],
            "spans_given_up": told["spans_given_up"],
            "reason": told["reason"],
            "profiler": theirs,
        }

    def cupti_coverage(self):
        covered = [c["text"].split("\t") for c in self.report("summary")["coverage"]]
        return [line[1:] for line in covered if line[0] == "cupti"]

    def cupti(self, name, done):
        """The same steps by our CUPTI, in a run of its own; torch.profiler's beside us."""
        if "compared" not in done:
            raise NotChecked("there is nothing of torch.profiler's to compare with")
        path = os.path.join(self.folder, "kineto.json")
        said = self.train(self.traced(STAGEPROF_CUPTI="1"), name, self.options.steps)
        rows = [k for k in self.measured(said, "kernels")["kernels"] if k["stage"] == "gpu_kernel"]
        ours = {
            "calls": sum(row["calls"] for row in rows),
            "total_ns": sum(row["total_ns"] for row in rows),
        }
        coverage = self.cupti_coverage()
        self.train(self.traced(STAGEPROF_CUPTI="1"), name, self.options.steps, f"--kineto={path}")
        beside, theirs = kineto.read(path)["kernels"], done["compared"]["profiler_kernels"]
        ratio = lambda a, b: a / b if b else None
        return {
            "stageprof": ours,
            "coverage": coverage,
            "profiler": theirs,
            "profiler_beside_us": beside,
            "calls_ratio": ratio(ours["calls"], theirs["calls"]),
            "time_ratio": ratio(ours["total_ns"], theirs["total_ns"]),
            "beside_ratio": ratio(beside["calls"], theirs["calls"]),
            "gave_way": self.cupti_coverage(),
        }

    def round(self, name, done):
        """Once without the tracer, with all that is on by default, and with that but the events."""
        kinds = {
            "plain": lambda: self.env,
            "traced": self.traced,
            "without_events": lambda: self.traced(STAGEPROF_WITHOUT="gpu_time"),
        }
        turn = -1 if len(done.get("rounds", [])) % 2 else 1
        said = {
            kind: self.train(kinds[kind](), name, self.options.timed_steps)
            for kind in list(kinds)[::turn]
        }
        return {
            kind: {key: one[key] for key in ("wall_ns", "ten_steps_ns")}
            for kind, one in said.items()
        }

    def program(self, kind, _):
        """A program of five launches, two copies and a set, against one of nvcc's runtimes."""
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        if not os.path.exists(nvcc):
            raise NotChecked("no nvcc on PATH or in /usr/local/cuda/bin")
        program = os.path.join(self.folder, kind)
        try:
            self.run(
                [nvcc, "-cudart", kind, "-o", program, os.path.join(HERE, "real.cu")], self.env
            )
        except Failure as failure:
            raise NotChecked(f"it cannot be built here: {failure}")
        root = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
        paths = [
            os.path.join(root, "lib64"),
            os.path.join(root, "lib"),
            self.env.get("LD_LIBRARY_PATH", ""),
        ]
        more = {"LD_LIBRARY_PATH": os.pathsep.join(filter(None, paths))}
        try:
            plain = self.run([program], {**self.env, **more})
        except Failure as failure:
            raise NotChecked(f"it fails without the tracer, too: {failure}")
        failed = [line for line in plain.splitlines() if not line.endswith(": 0")]
        if failed:
            raise NotChecked(f"its calls fail without the tracer, too: {failed[0]}")
        traced = self.run([program], self.traced(**more))
        calls = {}
        if os.path.isdir(self.output):
            calls = {s["stage"]: s["calls"] for s in self.report("stages")["stages"]}
        seen = {stage: calls.get(stage, 0) for stage in PROGRAM}
        same = plain == traced
        return {
            "same_output": same,
            "wanted": PROGRAM,
            "seen": seen,
            "passed": same and seen == PROGRAM,
        }
