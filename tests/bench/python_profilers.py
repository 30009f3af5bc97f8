#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`stageprof run --sample` beside other profilers of Python, as tables for docs/PERFORMANCE.md.

python3 tests/bench/python_profilers.py --peers VENV [--build FOLDER] [--pairs N]

VENV holds py-spy, scalene, memray and viztracer (pip install); those that are missing are left out.

Price: a trainer on photographs with 8 workers, under each profiler and without one in turn. The
processor time is that of all processes, the profiler's included.

Truth: trainers run under the sampler and py-spy --nonblocking at once, 100 looks a second each,
while cProfile counts in their workers. The table has, for the functions that take most of making
batches by the sampler, the share of that time by all three. cProfile makes each call longer, and
the others see that, too: so the three are of the same program.
"""

import argparse
import collections
import gzip
import json
import os
import pstats
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TRAINERS = os.path.join(ROOT, "tests", "programs", "trainers")
PHOTOS = os.path.join(ROOT, "build", "photos", "set")
TOP = 4
FETCH = "torch/utils/data/_utils/fetch.py"
CASES = (  # trainer, its arguments, {constant: value}
    ("image_folder.py", ["--data", PHOTOS, "--epochs", "6", "--workers", "2"], {}),
    ("act_hdf5.py", ["{folder}/act"], {"EPOCHS": 150}),
    ("diffusion_policy.py", ["{folder}/diffusion", "2"], {"EPOCHS": 150}),
)
# Runs a trainer whose workers profile their fetches: TRAINER PROFILES CONSTANTS ARGUMENTS...
PROFILED = """
import cProfile, json, multiprocessing.util, os, sys
sys.path.insert(0, os.path.dirname(sys.argv[1]))
trainer = __import__(os.path.basename(sys.argv[1])[:-3])
import torch.utils.data._utils.fetch as module
folder, constants = sys.argv[2], json.loads(sys.argv[3])
fetch, profiles = module._MapDatasetFetcher.fetch, {}

def profiled(self, indices):
    profile = profiles.get(os.getpid())
    if not profile:
        profile = profiles[os.getpid()] = cProfile.Profile()
        path = os.path.join(folder, str(os.getpid()))
        multiprocessing.util.Finalize(None, profile.dump_stats, [path], exitpriority=1)
    return profile.runcall(fetch, self, indices)

module._MapDatasetFetcher.fetch = profiled
sys.argv[:] = [sys.argv[1], *sys.argv[4:]]
vars(trainer).update(constants)
trainer.main()
"""


def commands(args, folder):
    """Prefix of a Python command by profiler."""
    ours = [os.path.join(args.build, "stageprof"), "run", "-q"]
    peers = os.path.join(args.peers, "bin")
    out = os.path.join(folder, "out")
    packages = subprocess.run(
        [os.path.join(peers, "python"), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        stdout=subprocess.PIPE,
        check=True,
    ).stdout.decode()
    python, env = [args.python], {"PYTHONPATH": packages.strip()}
    spy = [os.path.join(peers, "py-spy"), "record", "-r", "100", "-s", "-f", "raw", "-o", out]
    return {
        "stageprof run --sample": ([*ours, "--sample", "-o", out, "--", *python], {}),
        "stageprof run --sample=100": ([*ours, "--sample=100", "-o", out, "--", *python], {}),
        "py-spy --nonblocking": ([*spy, "--nonblocking", "--", *python], {}),
        "py-spy": ([*spy, "--", *python], {}),
        "scalene": ([*python, "-m", "scalene", "run", "--cpu-only", "-o", out], env),
        "memray": ([*python, "-m", "memray", "run", "--follow-fork", "-q", "-f", "-o", out], env),
        "viztracer": ([*python, "-m", "viztracer", "--quiet", "-o", out + ".json"], env),
    }


def timed(command, env):
    """Wall and processor seconds of all processes, or None where it fails."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        command,
        env={**os.environ, "OMP_NUM_THREADS": "1", **env},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        print(f"{command[:3]}: {done.stderr.decode()[-300:]}", file=sys.stderr)
        return None
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def empty(folder):
    for entry in list(os.scandir(folder)):
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            os.remove(entry)


def price(args):
    program = [os.path.join(TRAINERS, "image_folder.py"), "--data", PHOTOS]
    program += ["--epochs", "2", "--workers", "8"]
    print("| profiler | processor time | wall time | pairs |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, (prefix, env) in commands(args, folder).items():
            ratios = []
            for i in range(args.pairs):
                turns = [([args.python, *program], {}), ([*prefix, *program], env)]
                found = [timed(*turn) for turn in (turns if i % 2 else turns[::-1])]
                plain, traced = found if i % 2 else found[::-1]
                empty(folder)
                if not plain or not traced:
                    break
                ratios.append((traced[1] / plain[1], traced[0] / plain[0]))
            if ratios:
                cpu, wall = (sorted(column) for column in zip(*ratios))
                texts = (
                    f"{100 * (statistics.median(column) - 1):+.1f}% "
                    f"({100 * (column[0] - 1):+.1f} to {100 * (column[-1] - 1):+.1f})"
                    for column in (cpu, wall)
                )
                print(f"| {name} | {' | '.join(texts)} | {len(ratios)} |", flush=True)
            else:
                print(f"| {name} | failed | failed | 0 |", flush=True)


def innermost(frames):
    """The function of the innermost frame that is Python's, or None."""
    named = [frame for frame in frames if " (" in frame]
    return named[-1].split(" (")[0] if named else None


def folded(path):
    """The lines of an exported pprof file: phase, frames from the outermost one, nanoseconds."""
    schema = os.path.join(ROOT, "tests", "report", "exports", "profile.proto")
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(
            ["protoc", f"-I{os.path.dirname(schema)}", f"-o{out.name}", schema], check=True
        )
        files = descriptor_pb2.FileDescriptorSet.FromString(out.read())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(files.file[0])
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName("stageprof.Profile"))
    with gzip.open(path) as file:
        profile = kind.FromString(file.read())
    text, functions = profile.string_table, {one.id: one for one in profile.function}
    frames = {}
    for place in profile.location:
        called = functions[place.line[0].function_id]
        at = f" ({text[called.filename]}:{called.start_line})" if called.filename else ""
        frames[place.id] = text[called.name] + at
    for sample in profile.sample:
        labels = {text[label.key]: text[label.str] for label in sample.label}
        stack = [labels["phase"], *(frames[number] for number in reversed(sample.location_id))]
        yield f"{';'.join(stack)} {sample.value[1]}"


def shares(lines, phases):
    """Functions by their part of all time inside of fetches."""
    own = collections.Counter()
    for line in lines:
        stack, count = line.rsplit(" ", 1)
        frames = stack.split(";")
        if phases and not (frames[0].startswith("worker_") and frames[0] != "worker_idle"):
            continue
        at = [i for i, frame in enumerate(frames) if FETCH in frame]
        if at and innermost(frames[at[0] :]):
            own[innermost(frames[at[0] :])] += int(count)
    whole = sum(own.values())
    return {name: n / whole for name, n in own.items()}, whole


def names_of(path, found):
    """Names of functions by their first lines, which is how cProfile knows them."""

    def add(code):
        found[path, code.co_firstlineno, code.co_name] = code.co_qualname
        for constant in code.co_consts:
            if hasattr(constant, "co_code"):
                add(constant)

    if os.path.exists(path):
        with open(path, "rb") as file:
            add(compile(file.read(), path, "exec"))


def counted_shares(folder):
    """Functions by their part of all time by cProfile; that of a function in C is its callers'."""
    own, calls, known = collections.Counter(), collections.Counter(), {}
    for entry in os.scandir(folder):
        for key, (_, count, seconds, _, callers) in pstats.Stats(entry.path).stats.items():
            if key[0] != "~":
                own[key] += seconds
                calls[key] += count
                continue
            for caller, part in callers.items():
                own[caller] += part[2]
    for path in {key[0] for key in own}:
        names_of(path, known)
    whole, named, counts = sum(own.values()), collections.Counter(), collections.Counter()
    for key, seconds in own.items():
        named[known.get(key, key[2])] += seconds / whole
        counts[known.get(key, key[2])] += calls[key]
    return named, counts


def run_all(args, name, arguments, constants, folder):
    """The trainer under all three. Returns their shares, and the numbers of looks and calls."""
    ends = ("r.zst", "raw", "pprof", "profiles", "profiled.py")
    run, raw, ours, profiles, program = (os.path.join(folder, end) for end in ends)
    os.mkdir(profiles)
    with open(program, "w") as file:
        file.write(PROFILED)
    spy = [os.path.join(args.peers, "bin", "py-spy"), "record", "-r", "100", "-s"]
    spy += ["--nonblocking", "-f", "raw", "-o", raw, "--", args.python]
    command = [os.path.join(args.build, "stageprof"), "run", "-q", "--sample=100", "-o", run, "--"]
    command += [*spy, program, os.path.join(TRAINERS, name), profiles]
    command += [json.dumps(constants), *(text.format(folder=folder) for text in arguments)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(command, check=True, **quiet)
    report = [os.path.join(args.build, "stageprof-report"), "export", "pprof"]
    subprocess.run([*report, run, "--force", "-qo", ours], check=True)
    with open(raw) as theirs:
        return *shares(folded(ours), True), *shares(theirs, False), *counted_shares(profiles)


def truth(args):
    print("| trainer | function | stageprof | py-spy | cProfile | looks | py-spy's | calls |")
    print("|---|---|---|---|---|---|---|---|")
    for name, arguments, constants in CASES:
        with tempfile.TemporaryDirectory() as folder:
            own, ns, other, looks, counted, calls = run_all(
                args, name, arguments, constants, folder
            )
        for function in sorted(own, key=own.get, reverse=True)[:TOP]:
            print(
                f"| {name} | `{function}` | {own[function]:.1%} | {other.get(function, 0):.1%} "
                f"| {counted[function]:.1%} | {ns / 1e7:.0f} | {looks} "
                f"| {calls[function]} |",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--python", default=os.path.join(ROOT, "build", "venv", "bin", "python"))
    parser.add_argument("--peers", required=True)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--only", choices=("price", "truth"))
    args = parser.parse_args()
    for part in (price, truth):
        if args.only in (None, part.__name__):
            part(args)
            print()


if __name__ == "__main__":
    main()
