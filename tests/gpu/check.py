"""Holds the tracer against torch.profiler on a machine with an NVIDIA GPU; writes one JSON file.

For each workload: launches, graph launches, copies, sets, waits and time on the GPU of the same steps as both saw
them; then what the tracer costs, in pairs of runs with and without it. Programs that nvcc builds here with the
shared and the static runtime show whether the driver is seen. Started by scripts/gpu-check.
"""

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODES = {"resnet": ["eager", "amp", "compile", "graph"], "transformer": ["eager", "amp", "compile", "graph"]}
WINDOW = "measured steps"
LAUNCHES_LEAST = 0.99
OVERHEAD_MOST = 0.01
# Of a step: the events at boundaries of stages. Broken where three quarters of the pairs say more.
EVENTS_MOST = 0.001
# The first and the last may begin outside of the window.
STEPS_EDGE = 2
PAIRS_LEAST = 9
# Calls of other groups than launches: a window's edge may lie between a call and its record.
CALLS_WITHIN, CALLS_EDGE = 0.01, 2
# A stretch on a stream holds the gaps between its works: it is no less than these, and no more than from first to last.
GPU_TIME_WITHIN = 0.03
# Of torch.profiler's: kernels of the same steps in another run, their time there, its own count beside us.
CUPTI_WITHIN = {"calls_ratio": 0.01, "time_ratio": 0.05, "beside_ratio": 0.01}

# What torch.profiler calls the calls that a stage holds.
GROUPS = {
    "launches": (r"^(cuda|cu)Launch(Cooperative)?Kernel", ["cuda_launch"]),
    "graph_launches": (r"^(cuda|cu)GraphLaunch", ["cuda_graph_launch"]),
    "copies": (
        r"^(cuda|cu)Memcpy",
        ["cuda_copy_h2d", "cuda_copy_d2h", "cuda_copy_d2d", "cuda_copy_other"],
    ),
    "sets": (r"^(cuda|cu)Memset", ["cuda_memset"]),
    "waits": (r"^(cuda(Stream|Device|Event)|cu(Stream|Ctx|Event))Synchronize", ["cuda_sync"]),
}


class Failure(Exception):
    pass


def run(command, env=None, **options):
    done = subprocess.run(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=1200, **options
    )
    if done.returncode != 0:
        tail = done.stderr.decode(errors="replace")[-2000:]
        raise Failure(f"{' '.join(command)}: status {done.returncode}: {tail}")
    return done.stdout.decode()


class Check:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.env = {n: v for n, v in os.environ.items() if not n.startswith("STAGEPROF_")}

    def traced(self, output):
        shutil.rmtree(output, ignore_errors=True)
        return {**self.env, "LD_PRELOAD": self.options.library, "STAGEPROF_OUTPUT": output}

    def train(self, env, workload, mode, steps, *more):
        command = [
            sys.executable,
            os.path.join(HERE, "train.py"),
            f"--workload={workload}",
            f"--mode={mode}",
            f"--steps={steps}",
            f"--warmup={self.options.warmup}",
            f"--batch={self.options.batch}",
            f"--device={self.options.device}",
            *more,
        ]
        return json.loads(run(command, env).splitlines()[-1])

    def report(self, output, *more, view="stages"):
        env = dict(self.env)
        libraries = os.path.join(os.path.dirname(self.options.report), "lib")
        if os.path.isdir(libraries):
            env["LD_LIBRARY_PATH"] = libraries
        return json.loads(
            run([self.options.report, view, "--format=json", *more, output], env)
        )

    def window(self, output, begin_ns, end_ns):
        """Calls by stage between two instants of the wall clock."""
        start = self.report(output)["run"]["begin_realtime_ns"]
        seconds = [f"--from={(begin_ns - start) / 1e9:.9f}", f"--to={(end_ns - start) / 1e9:.9f}"]
        answer = self.report(output, *seconds)
        return {stage["stage"]: stage for stage in answer["stages"]}, answer["run"]

    def compare(self, workload, mode):
        kineto = os.path.join(self.folder, "kineto.json")
        output = os.path.join(self.folder, "run.zst")
        said = self.train(
            self.traced(output), workload, mode, self.options.steps, f"--kineto={kineto}"
        )
        stages, whole = self.window(output, said["begin_ns"], said["end_ns"])
        theirs, kernels, gpu = kineto_calls(kineto)
        result = {
            "steps": self.options.steps,
            "wall_ns": said["wall_ns"],
            "events_lost": whole["events_lost"],
            "trace_bytes": sum(
                os.path.getsize(os.path.join(output, name)) for name in os.listdir(output)
            ),
            "profiler_kernels": kernels,
            "gpu_time": self.gpu_time(output, said, gpu),
            "steps_seen": self.steps(output, said),
        }
        result.update(compare_calls(stages, theirs))
        return result

    def measured(self, output, said, view):
        """A view of the measured steps alone."""
        start = self.report(output)["run"]["begin_realtime_ns"]
        seconds = [f"--from={(said['begin_ns'] - start) / 1e9:.9f}", f"--to={(said['end_ns'] - start) / 1e9:.9f}"]
        return self.report(output, *seconds, view=view)

    def steps(self, output, said):
        """Also those that are replays of a graph, in which no optimizer is called."""
        told = self.measured(output, said, "summary")["steps"]
        return {"count": told["count"], "end_with": told["end_with"]}

    def gpu_time(self, output, said, theirs):
        """Streams busy with what these steps launched, by events at their stages' boundaries. None: not known."""
        summary = self.measured(output, said, "summary")
        parts = [row["gpu_ns"] for row in summary["account"] if row["gpu_ns"] is not None]
        told = summary["gpu_time"]
        return {
            "stageprof_ns": sum(parts) if parts else None,
            "spans": told["spans"],
            "spans_given_up": told["spans_given_up"],
            "reason": told["reason"],
            **{f"profiler_{name}": ns for name, ns in theirs.items()},
        }

    def kernels(self, output, said):
        """What CUPTI told of the measured steps, between waits for the device."""
        rows = [k for k in self.measured(output, said, "kernels")["kernels"] if k["stage"] == "gpu_kernel"]
        return {
            "calls": sum(row["calls"] for row in rows),
            "total_ns": sum(row["total_ns"] for row in rows),
            "coverage": self.cupti_coverage(output),
        }

    def cupti_coverage(self, output):
        covered = [c["text"].split("\t") for c in self.report(output, view="summary")["coverage"]]
        return [line[1:] for line in covered if line[0] == "cupti"]

    def cupti(self, workload, mode, theirs):
        """The same steps by our CUPTI, in a run of its own; and torch.profiler's beside us, who give way."""
        output = os.path.join(self.folder, "run.zst")
        kineto = os.path.join(self.folder, "kineto.json")
        env = {**self.traced(output), "STAGEPROF_CUPTI": "1"}
        ours = self.kernels(output, self.train(env, workload, mode, self.options.steps))
        env = {**self.traced(output), "STAGEPROF_CUPTI": "1"}
        self.train(env, workload, mode, self.options.steps, f"--kineto={kineto}")
        beside = kineto_calls(kineto)[1]
        ratio = lambda a, b: a / b if b else None
        return {
            "stageprof": ours,
            "profiler": theirs,
            "profiler_beside_us": beside,
            "calls_ratio": ratio(ours["calls"], theirs["calls"]),
            "time_ratio": ratio(ours["total_ns"], theirs["total_ns"]),
            "beside_ratio": ratio(beside["calls"], theirs["calls"]),
            "gave_way": self.cupti_coverage(output),
        }

    def overhead(self, workload, mode):
        """With all that is on by default, and how much of that is the events on the streams."""
        output = os.path.join(self.folder, "run.zst")
        rounds = []
        kinds = {
            "plain": lambda: self.env,
            "traced": lambda: self.traced(output),
            "without_events": lambda: {**self.traced(output), "STAGEPROF_GPUTIME": "0"},
        }
        for i in range(self.options.pairs):
            order = list(kinds)[:: 1 if i % 2 else -1]
            rounds.append({k: self.train(kinds[k](), workload, mode, self.options.timed_steps)["wall_ns"] for k in order})
        costs = [r["traced"] / r["plain"] - 1 for r in rounds]
        events = sorted(r["traced"] / r["without_events"] - 1 for r in rounds)
        return {
            "steps": self.options.timed_steps,
            **{f"{kind}_ns": [r[kind] for r in rounds] for kind in kinds},
            "overhead_median": statistics.median(costs),
            "overhead_all": costs,
            "events_median": statistics.median(events),
            "events_quartiles": [events[len(events) // 4], events[len(events) - 1 - len(events) // 4]],
            "events_all": events,
        }

    def built_here(self, nvcc):
        """A program of five launches, two copies and a set, against each runtime."""
        wanted = {"cuda_launch": 5, "cuda_copy_h2d": 1, "cuda_copy_d2h": 1, "cuda_memset": 1}
        results = {}
        for kind in ("shared", "static"):
            program = os.path.join(self.folder, kind)
            run([nvcc, "-cudart", kind, "-o", program, os.path.join(HERE, "real.cu")])
            env = dict(self.env)
            toolkit = os.path.join(os.path.dirname(os.path.realpath(nvcc)), "..", "lib64")
            env["LD_LIBRARY_PATH"] = toolkit + os.pathsep + env.get("LD_LIBRARY_PATH", "")
            plain = run([program], env)
            output = os.path.join(self.folder, "run.zst")
            traced = run([program], {**self.traced(output), "LD_LIBRARY_PATH": env["LD_LIBRARY_PATH"]})
            stages = {}
            if os.path.isdir(output):
                stages = {s["stage"]: s["calls"] for s in self.report(output)["stages"]}
            seen = {name: stages.get(name, 0) for name in wanted}
            results[kind] = {
                "same_output": plain == traced,
                "wanted": wanted,
                "seen": seen,
                "passed": plain == traced and seen == wanted,
            }
        return results


def compare_calls(stages, theirs):
    """By group: calls of the report's stages, and torch.profiler's."""
    result = {}
    for group, (_, names) in GROUPS.items():
        rows = [stages[name] for name in names if name in stages]
        ours = sum(row["calls"] for row in rows)
        result[group] = {
            "stageprof": ours,
            "profiler": theirs[group],
            "ratio": ours / theirs[group] if theirs[group] else None,
            "stageprof_host_ns": sum(row["total_ns"] for row in rows),
        }
    return result


def covered_ns(intervals):
    """The time in which any of them is, and from the first to the last."""
    busy, until = 0, 0
    for begin, end in sorted(intervals):
        busy += max(0, end - max(begin, until))
        until = max(until, end)
    return {"busy_ns": busy, "extent_ns": until - min(b for b, _ in intervals) if intervals else 0}


def kineto_calls(path):
    """Host calls inside the measured steps, each correlation once: the runtime's call and the driver's
    inside it carry one number. The kernels that ran: count and time. When the GPU was busy with what these calls gave it."""
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    window = [e for e in events if e.get("name") == WINDOW and e.get("cat") == "user_annotation"]
    if len(window) != 1:
        raise Failure(f"{len(window)} windows in torch.profiler's trace")
    begin, end = window[0]["ts"], window[0]["ts"] + window[0]["dur"]
    calls = {group: set() for group in GROUPS}
    kernels = {"calls": 0, "total_ns": 0}
    launched = set()
    for event in events:
        correlation = event.get("args", {}).get("correlation")
        if event.get("cat") in ("cuda_runtime", "cuda_driver") and begin <= event["ts"] < end:
            for group, (pattern, _) in GROUPS.items():
                if re.match(pattern, event["name"]):
                    calls[group].add(correlation)
            launched.add(correlation)
    works = []
    for event in events:
        if event.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset"):
            continue
        if event["args"].get("correlation") not in launched:
            continue
        works.append((round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)))
        if event["cat"] == "kernel":
            kernels["calls"] += 1
            kernels["total_ns"] += round(event["dur"] * 1000)
    return {group: len(found) for group, found in calls.items()}, kernels, covered_ns(works)


def machine(options):
    import torch

    facts = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torch_cuda": torch.version.cuda,
        "device": options.device,
    }
    if options.device == "cuda":
        query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
        facts["device"] = torch.cuda.get_device_name()
        facts["gpus"] = run(query).splitlines()
    return facts


def judge_calls(name, compared):
    """Of what is no launch: launches have a promise of their own."""
    for group in GROUPS:
        row = compared.get(group)
        if not row or group == "launches":
            continue
        most = max(CALLS_EDGE, CALLS_WITHIN * row["profiler"])
        if abs(row["stageprof"] - row["profiler"]) > most:
            yield f"{name}: {row['stageprof']} {group}, torch.profiler has {row['profiler']}"


def judge_gpu_time(name, gpu):
    ours = gpu.get("stageprof_ns") if gpu else None
    if ours is None:
        return
    least, most = gpu["profiler_busy_ns"] * (1 - GPU_TIME_WITHIN), gpu["profiler_extent_ns"] * (1 + GPU_TIME_WITHIN)
    if not gpu["spans_given_up"] and not least <= ours <= most:
        yield f"{name}: {ours} ns on the GPU, where torch.profiler has {least:.0f} to {most:.0f}"


def judge_steps(name, compared):
    seen = compared.get("steps_seen")
    if seen and abs(seen["count"] - compared["steps"]) > STEPS_EDGE:
        yield f"{name}: {seen['count']} steps, and the program made {compared['steps']}"


def judge(results):
    """What was promised and did not hold."""
    broken = []
    if not results["dry_run"] and results.get("pairs", PAIRS_LEAST) < PAIRS_LEAST:
        broken.append(f"overhead by {results['pairs']} pairs: {PAIRS_LEAST} are the least")
    for name, result in results["workloads"].items():
        if "error" in result:
            broken.append(f"{name}: {result['error']}")
            continue
        ratio = result["compared"]["launches"]["ratio"]
        if ratio is not None and ratio < LAUNCHES_LEAST:
            broken.append(f"{name}: {ratio:.4f} of the launches")
        if result["compared"]["events_lost"]:
            broken.append(f"{name}: events lost")
        broken += judge_calls(name, result["compared"])
        broken += judge_steps(name, result["compared"])
        broken += judge_gpu_time(name, result["compared"].get("gpu_time"))
        for what, within in CUPTI_WITHIN.items():
            ratio = result.get("cupti", {}).get(what)
            if ratio is not None and abs(ratio - 1) > within:
                broken.append(f"{name}: {what} of kernels {ratio:.4f}")
        cost = result.get("overhead", {}).get("overhead_median")
        if cost is not None and cost > OVERHEAD_MOST and not results["dry_run"]:
            broken.append(f"{name}: costs {cost:.2%}")
        events = result.get("overhead", {}).get("events_quartiles")
        if events and events[0] > EVENTS_MOST and not results["dry_run"]:
            broken.append(f"{name}: events on the streams cost {events[0]:.3%} or more of a step")
    for kind, result in results.get("built_here", {}).items():
        if not result.get("passed"):
            broken.append(f"program with the {kind} runtime: {result}")
    return broken


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True, help="libstageprof.so")
    parser.add_argument("--report", required=True, help="stageprof-report")
    parser.add_argument("--output", required=True, help="the JSON file")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--steps", type=int, default=50, help="compared with torch.profiler")
    parser.add_argument("--timed-steps", type=int, default=400, help="of the paired runs")
    parser.add_argument("--warmup", type=int, default=20)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--only", help="one workload, as resnet/eager")
    parser.add_argument("--paired", default="resnet/eager,transformer/eager,resnet/graph")
    parser.add_argument("--dry-run", action="store_true", help="on the processor, to try the script")
    options = parser.parse_args()
    options.device = "cpu" if options.dry_run else "cuda"
    options.library = os.path.abspath(options.library)
    options.report = os.path.abspath(options.report)
    return options


def main():
    options = arguments()
    results = {"schema_version": 1, "dry_run": options.dry_run, "machine": machine(options), "pairs": options.pairs}
    results["workloads"] = {}
    wanted = [f"{w}/{m}" for w, modes in MODES.items() for m in modes]
    if options.only:
        wanted = [options.only]
    with tempfile.TemporaryDirectory(prefix="stageprof-gpu-") as folder:
        check = Check(options, folder)
        for name in wanted:
            print(name, file=sys.stderr, flush=True)
            try:
                result = {"compared": check.compare(*name.split("/"))}
                if not options.dry_run:
                    theirs = result["compared"]["profiler_kernels"]
                    result["cupti"] = check.cupti(*name.split("/"), theirs)
                if name in options.paired.split(","):
                    result["overhead"] = check.overhead(*name.split("/"))
            except (Failure, subprocess.TimeoutExpired) as failure:
                result = {"error": str(failure)}
            results["workloads"][name] = result
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        if not options.dry_run and os.path.exists(nvcc):
            results["built_here"] = check.built_here(nvcc)
    results["broken"] = judge(results)
    with open(options.output, "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    print("\n".join(results["broken"]) or "all held", file=sys.stderr)
    return 1 if results["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
