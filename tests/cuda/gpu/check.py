# SPDX-License-Identifier: Apache-2.0
"""Holds the tracer against torch.profiler on a machine with an NVIDIA GPU; writes a JSON file.

For each workload: launches, graph launches, copies, sets, waits and time on the GPU of the same
steps as both saw them; then what the tracer costs, in rounds of runs without it, with it, and with
it but its events on the streams. Programs that nvcc builds with the shared and the static runtime
show whether the driver is seen.

The file is written again after each of these, so that what was measured stays whenever this ends.
Where it exists already, and with --add, the results in it are kept and only what they lack is
measured. --seconds ends it by then, with the most important measured first.

Exit status: 0 all held; 1 something did not ("broken" in the file), or could not be done; 2 usage;
3 nothing is broken, but not all could be decided ("undecided"); 77 there is nothing here to check
with.
"""

import argparse
import datetime
import hashlib
import json
import os
import platform
import signal
import sys
import tempfile
import time
from collections import Counter

import judge
import measure
from measure import Failure, NotChecked, NotReached
from results import Unusable, earlier, empty, writable, write

WORKLOADS = [
    f"{w}/{m}" for m in ("eager", "graph", "amp", "compile") for w in ("resnet", "transformer")
]
PAIRED = ["resnet/eager", "transformer/eager", "resnet/graph"]
RUNTIMES = ["shared", "static"]
# Results can be joined only if these are equal, and the machine, PyTorch and the tracer.
SIZES = ["steps", "timed_steps", "warmup", "batch"]
PROBE = """
import json
said = {}
try:
    import torch
    said = {"torch": getattr(torch, "__version__", None), "torch_cuda": torch.version.cuda, "device": None}
    if torch.version.cuda and torch.cuda.is_available():
        said["device"] = torch.cuda.get_device_name()
except ModuleNotFoundError:
    pass
print(json.dumps(said))
"""


class NothingHere(Exception):
    """The machine lacks something."""


def whole(least, most):
    def convert(text):
        number = int(text)
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"{text} is not between {least} and {most}")
        return number

    convert.__name__ = "number"
    return convert


def arguments(given=None):
    parser = argparse.ArgumentParser(
        prog="gpu-check",
        usage="gpu-check [OPTIONS], or gpu-check --pack FOLDER for a bare machine",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--output", default="gpu-check.json", help="the JSON file (%(default)s)")
    parser.add_argument(
        "--add",
        action="append",
        default=[],
        metavar="FILE",
        help="results to begin with; repeatable",
    )
    parser.add_argument(
        "--seconds",
        type=whole(0, 10**6),
        help="end by then, the most important first; 0: join and judge files only",
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=WORKLOADS,
        metavar="NAME",
        help=f"repeatable; of {', '.join(WORKLOADS)}",
    )
    parser.add_argument(
        "--pairs",
        type=whole(1, 999),
        default=judge.PAIRS_LEAST,
        help="rounds of what it costs (%(default)s)",
    )
    parser.add_argument(
        "--paired",
        action="append",
        choices=WORKLOADS,
        metavar="NAME",
        help=f"measured in rounds ({', '.join(PAIRED)})",
    )
    parser.add_argument(
        "--steps",
        type=whole(1, 10**6),
        default=50,
        help="compared with torch.profiler (%(default)s)",
    )
    parser.add_argument(
        "--timed-steps",
        type=whole(1, 10**6),
        default=400,
        help="of each run of a round (%(default)s)",
    )
    parser.add_argument(
        "--warmup", type=whole(0, 10**6), default=20, help="steps before any of these (%(default)s)"
    )
    parser.add_argument("--batch", type=whole(1, 10**6), default=32, help="(%(default)s)")
    parser.add_argument(
        "--dry-run", action="store_true", help="on the processor, to try the script"
    )
    parser.add_argument("--library", dest="preloaded", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--report", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args(given)
    options.preloaded, options.report = os.path.abspath(options.preloaded), os.path.abspath(
        options.report
    )
    options.only = list(dict.fromkeys(options.only or WORKLOADS))
    aside = [name for name in options.paired or [] if name not in options.only]
    if aside:
        parser.error(f"--paired={aside[0]}: it is not among those that --only names")
    options.paired = [
        name for name in dict.fromkeys(options.paired or PAIRED) if name in options.only
    ]
    return options


def machine(options, tool):
    """The conditions that joined results must share; raises NothingHere."""
    try:
        said = json.loads(tool.run([sys.executable, "-c", PROBE], tool.env).splitlines()[-1])
    except Failure as failure:
        raise NothingHere(
            f"{sys.executable} cannot import PyTorch ({str(failure).splitlines()[-1]})"
        )
    if not said:
        raise NothingHere(f"{sys.executable} has no PyTorch")
    if not options.dry_run and not said["torch_cuda"]:
        raise NothingHere(f"the PyTorch of {sys.executable} is not built for CUDA")
    if not options.dry_run and not said["device"]:
        raise NothingHere(f"the PyTorch of {sys.executable} sees no GPU")
    with open(options.preloaded, "rb") as file:
        library = hashlib.sha256(file.read()).hexdigest()
    return {
        **said,
        "driver": None if options.dry_run else driver(tool),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "library_sha256": library,
        "dry_run": options.dry_run,
        **{size: getattr(options, size) for size in SIZES},
    }


def driver(tool):
    try:
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        return tool.run(query, tool.env).splitlines()[0].strip()
    except (Failure, IndexError) as error:
        return f"not known: {error}"


def plan(options):
    """(part, of what) in the order of their weight. Rounds go around the workloads."""
    todo = [("compared", name) for name in options.only]
    if not options.dry_run:
        todo += [("program", kind) for kind in RUNTIMES]
        todo += [("cupti", name) for name in options.only[:1]]
    todo += [("round", name) for _ in range(options.pairs) for name in options.paired]
    if not options.dry_run:
        todo += [("cupti", name) for name in options.only[1:]]
    return todo


class Session:
    def __init__(self, options, tool, results):
        self.options, self.tool, self.results = options, tool, results
        self.took = {}
        for name in options.only:
            results["workloads"].setdefault(name, {})

    def lacking(self):
        """The parts of the plan that have no result yet."""
        rounds = {
            name: len(done.get("rounds", [])) for name, done in self.results["workloads"].items()
        }
        for part, name in plan(self.options):
            if part == "round" and rounds[name]:
                rounds[name] -= 1
            elif part == "program" and name not in self.results["built_here"]:
                yield part, name
            elif (
                part == "round"
                or part in ("compared", "cupti")
                and part not in self.results["workloads"][name]
            ):
                yield part, name

    def failed(self, part, name):
        done = self.results["workloads"].get(name, {})
        return part in done.get("errors", {}) or part in done.get("not_checked", {})

    def note(self, part, name, kind, why):
        if part == "program":
            self.results["built_here"][name] = (
                {"not_checked": why} if kind == "not_checked" else {"passed": False, "error": why}
            )
        else:
            self.results["workloads"][name].setdefault(kind, {})[part] = why

    def measure(self, part, name):
        done = self.results["workloads"].get(name, {})
        try:
            result = getattr(self.tool, part)(name, done)
        except NotReached:
            raise
        except NotChecked as why:
            self.note(part, name, "not_checked", str(why))
        except Exception as failure:  # of one workload: the others are to be measured all the same
            self.note(part, name, "errors", f"{type(failure).__name__}: {failure}")
        else:
            if part == "round":
                done.setdefault("rounds", []).append(result)
            elif part == "program":
                self.results["built_here"][name] = result
            else:
                done[part] = result

    def room(self, part, name):
        """True if a repetition would finish in time, by the time of the last one."""
        left = self.tool.deadline
        return left is None or time.monotonic() + self.took.get((part, name), 1) < left

    def run(self):
        todo = list(self.lacking())
        while todo:
            left = Counter(f"{name}: {part}" for part, name in todo)
            self.results["not_reached"] = [
                f"{what} ({times})" if times > 1 else what for what, times in left.items()
            ]
            write(self.options.output, self.results)
            part, name = todo[0]
            if not self.failed(part, name):
                if not self.room(part, name):
                    return
                print(f"{name}: {part}", file=sys.stderr, flush=True)
                begin = time.monotonic()
                try:
                    self.measure(part, name)
                except NotReached:
                    return
                self.took[part, name] = time.monotonic() - begin
            todo.pop(0)
        self.results["not_reached"] = []
        write(self.options.output, self.results)


def begin(options, tool):
    """The results to add to; raises Unusable, NothingHere."""
    if options.seconds == 0:
        results = earlier(options)
        if not results:
            raise Unusable("--seconds=0 joins and judges files: name some with --add")
        options.dry_run = results["conditions"]["dry_run"]
        return results
    conditions = machine(options, tool)
    results = earlier(options, conditions) or empty(conditions)
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
    results["runs"].append({"date": now, "system": platform.platform()})
    return results


def check(options):
    started = time.monotonic()
    writable(options.output)
    with tempfile.TemporaryDirectory(prefix="stageprof-gpu-") as folder:
        tool = measure.Measure(options, folder)
        results = begin(options, tool)
        if options.seconds is not None:
            tool.deadline = started + options.seconds
        Session(options, tool, results).run()
    for kind in ("broken", "undecided"):
        for line in results[kind]:
            print(f"{kind}: {line}", file=sys.stderr)
    if not results["broken"] and not results["undecided"]:
        print("all held", file=sys.stderr)
    return 1 if results["broken"] else 3 if results["undecided"] else 0


def main():
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        return check(arguments())
    except Unusable as error:
        print(f"gpu-check: {error}", file=sys.stderr)
        return 2
    except NothingHere as what:
        print(
            f"gpu-check: {what}: nothing to check. It needs an NVIDIA GPU with its driver, and a Python\n"
            "(PYTHON=…) whose PyTorch is built for CUDA and sees that GPU; programs of its own it\n"
            "builds where nvcc is.",
            file=sys.stderr,
        )
        return 77


if __name__ == "__main__":
    sys.exit(main())
