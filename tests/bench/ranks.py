#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The price of `stageprof-report ranks` by the number of ranks, as a table for docs/PERFORMANCE.md.

python3 tests/bench/ranks.py [--build FOLDER] [--steps N] [RANKS...]

make_job makes each job, with a straggler; the page cache holds it. Processor time is the sum of all
threads, the peak is what the kernel says of the process.
"""

import argparse
import os
import resource
import subprocess
import tempfile
import time


def job_of(folder, build, ranks, steps):
    maker = os.path.join(build, "bench", "make_job")
    plant = f"rank,{ranks // 2},{steps // 2},forward,2000000"
    subprocess.run([maker, folder, str(ranks), str(steps), plant], check=True)
    return sum(entry.stat().st_size for entry in os.scandir(folder))


def measure(command):
    """Wall and processor seconds, the peak in MiB, and the output."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.stdout.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command}: {process.returncode}")
    wall = time.monotonic() - begin
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("ranks", type=int, nargs="*", default=[8, 64, 256, 1024, 10000])
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("| ranks | steps | trace | processor time | a rank and step | wall time | peak |")
    print("|---|---|---|---|---|---|---|")
    for ranks in args.ranks:
        with tempfile.TemporaryDirectory() as folder:
            size = job_of(folder, args.build, ranks, args.steps)
            report = os.path.join(args.build, "stageprof-report")
            runs = [measure([report, "ranks", "--jobs=2", folder]) for _ in range(3)]
        wall, cpu, peak, output = min(runs)
        if f"straggler  rank {ranks // 2} (" not in output:
            raise SystemExit(f"the straggler of {ranks} ranks was not found:\n{output}")
        share = cpu / ranks / args.steps * 1e6
        print(
            f"| {ranks:,} | {args.steps:,} | {size / 2**20:.1f} MiB | {cpu:.2f} s "
            f"| {share:.2f} µs | {wall:.2f} s | {peak:.0f} MiB |",
            flush=True,
        )


if __name__ == "__main__":
    main()
