#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The price of `stageprof-report ranks` by the number of ranks, as a table for docs/PERFORMANCE.md.

python3 tests/bench/ranks.py [--digests] [--gate] [--build FOLDER] [--view VIEW] [--steps N]
                             [--noise PERMILLE] [RANKS...]

--digests: a digest for each node of eight ranks, their merge, the view of the merged digest, which
has to be that of the traces, byte by byte, its page, and its tables (Parquet).

--gate, for ctest: fails where a rank and step of 1,024 ranks takes more than twice the processor
time of one of 64, in pairs, or where the peak is above 64 MiB. So does it where a view of ten times
the steps needs more memory of its own, or says something else where it may have no file.

make_job makes each job, with a straggler; the page cache holds it. Processor time is the sum of all
threads. The peak is what the kernel says of the process: it includes what the system has read of
the view's file (analyzer/base/spill.h) and can drop. Its own memory is the greatest RssAnon in
readings every 5 ms.
"""

import argparse
import os
import resource
import subprocess
import tempfile
import threading
import time

RANKS_A_NODE = 8


def job_of(folder, args, ranks):
    maker = os.path.join(args.build, "bench", "make_job")
    plant = f"rank,{ranks // 2},{args.steps // 2},forward,2000000"
    noise = f"noise={args.noise}"
    subprocess.run([maker, folder, str(ranks), str(args.steps), noise, plant], check=True)
    return sum(entry.stat().st_size for entry in os.scandir(folder))


class OwnMemory(threading.Thread):
    """The greatest RssAnon of a process while it lives, in MiB."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.mib = pid, 0.0

    def run(self):
        while True:
            try:
                with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
                    fields = dict(line.split(":", 1) for line in file)
            except OSError:
                return
            if "RssAnon" not in fields:
                return  # it has ended
            self.mib = max(self.mib, int(fields["RssAnon"].split()[0]) / 1024)
            time.sleep(0.005)


def measure(command, **how):
    """Wall and processor seconds, the peak in MiB, the output, and its own memory in MiB."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **how)
    own = OwnMemory(process.pid)
    own.start()
    output = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.stdout.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command}: {process.returncode}")
    wall = time.monotonic() - begin
    own.join()
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output, own.mib


def nodes_of(folder):
    """Moves the files of each eight ranks into a folder, as nodes have a run each."""
    nodes = []
    for name in sorted(os.listdir(folder)):
        node = os.path.join(folder, f"node-{int(name[5:10]) // RANKS_A_NODE:04}")
        if not os.path.isdir(node):
            os.mkdir(node)
            nodes.append(node)
        os.rename(os.path.join(folder, name), os.path.join(node, name))
    return nodes


def digest_row(args, ranks):
    report = os.path.join(args.build, "stageprof-report")
    with tempfile.TemporaryDirectory() as folder:
        job_of(folder, args, ranks)
        told = measure([report, "ranks", "--jobs=2", folder])[3]
        nodes, digests, costs = nodes_of(folder), [], []
        for node in nodes:
            digests.append(node + ".spd")
            costs.append(measure([report, "digest", "--jobs=2", node, "-o", digests[-1]]))
        whole = os.path.join(folder, "whole.spd")
        merged = min(
            measure([report, "digest", "--force", "-q", *digests, "-o", whole]) for _ in range(3)
        )
        shown = min(measure([report, "ranks", "--jobs=2", whole]) for _ in range(3))
        size = os.path.getsize(whole)
        page, tables = os.path.join(folder, "page.html"), os.path.join(folder, "tables")
        drawn = measure([report, "html", "--jobs=2", "-q", whole, "-o", page])
        page_size = os.path.getsize(page)
        written = measure([report, "export", "parquet", "--jobs=2", "-q", whole, "-o", tables])
        table_size = sum(
            os.path.getsize(os.path.join(where, name))
            for where, _, names in os.walk(tables)
            for name in names
        )
    if shown[3] != told:
        raise SystemExit(f"another answer from the digest of {ranks} ranks:\n{shown[3]}")
    wall, peak = sum(cost[0] for cost in costs) / len(costs), max(cost[4] for cost in costs)
    print(
        f"| {ranks:,} | {args.steps:,} | {size / 2**20:.1f} MiB | {size / ranks / args.steps:.1f} "
        f"| {wall * 1000:.0f} ms | {peak:.0f} MiB | {merged[0]:.2f} s | {merged[4]:.0f} MiB "
        f"| {shown[0]:.2f} s | {shown[4]:.0f} MiB | {page_size / 1000:.0f} kB | {drawn[0]:.1f} s "
        f"| {drawn[4]:.0f} MiB | {ranks * args.steps:,} | {table_size / 2**20:.1f} MiB "
        f"| {written[0]:.1f} s | {written[4]:.0f} MiB |",
        flush=True,
    )


def digest_table(args):
    print(
        "| ranks | steps | digest | bytes a rank and step | a node's digest | its own memory | merge "
        "| its own | `ranks` of it | its own | page | made in | its own | rows of `steps` "
        "| tables | made in | their own |"
    )
    print("|---" * 17 + "|")
    for ranks in args.ranks:
        digest_row(args, ranks)


GATE_RATIO, GATE_MIB = 2, 64
GATE_MORE_MIB = 56  # 32 in lists, 24 for histograms, readers and rows


def no_file():
    """A spill may write nothing, so its lists stay in memory."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def memory_gate(args):
    """The card of 64 ranks: its own memory, and its text with a file and without."""
    report = os.path.join(args.build, "stageprof-report")
    own = {}
    for steps in (800, 8000):
        args.steps = steps
        with tempfile.TemporaryDirectory() as folder:
            job_of(folder, args, 64)
            command = [report, "card", "--jobs=2", folder]
            _, _, _, said, own[steps] = measure(command)
            _, _, _, said_without, without = measure(command, preexec_fn=no_file)
        if said != said_without:
            raise SystemExit(f"another answer without a file:\n{said}\n{said_without}")
    print(f"own memory: {own[800]:.0f} MiB, {own[8000]:.0f} with ten times the steps, ", end="")
    print(f"{without:.0f} without a file")
    if own[8000] > own[800] + GATE_MORE_MIB or without < 2 * own[8000]:
        raise SystemExit(f"at most {GATE_MORE_MIB} MiB more, and without a file twice as much")


def gate(args):
    """The cost of a rank and step is the same in a job of sixteen times the ranks."""
    report = os.path.join(args.build, "stageprof-report")
    with tempfile.TemporaryDirectory() as few, tempfile.TemporaryDirectory() as many:
        job_of(few, args, 64)
        job_of(many, args, 1024)
        pairs = [
            [measure([report, "ranks", "--jobs=2", folder]) for folder in (few, many)]
            for _ in range(5)
        ]
    ratios = sorted(large[1] / 1024 / (small[1] / 64) for small, large in pairs)
    peak = max(large[2] for _, large in pairs)
    print(f"a rank and step of 1,024 ranks for one of 64: {ratios[2]:.2f}; peak {peak:.0f} MiB")
    if ratios[2] > GATE_RATIO or peak > GATE_MIB:
        raise SystemExit(f"at most {GATE_RATIO}, and {GATE_MIB} MiB")
    memory_gate(args)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--digests", action="store_true")
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--view", default="ranks", help="of the runs, in the first table")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--noise", type=int, default=20, help="of each phase, per thousand")
    parser.add_argument("ranks", type=int, nargs="*", default=[8, 64, 256, 1024, 10000])
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if args.gate:
        gate(args)
        return
    if args.digests:
        digest_table(args)
        return
    print("| ranks | steps | trace | processor time | a rank and step | wall time | peak | of its own |")
    print("|---|---|---|---|---|---|---|---|")
    for ranks in args.ranks:
        with tempfile.TemporaryDirectory() as folder:
            size = job_of(folder, args, ranks)
            report = os.path.join(args.build, "stageprof-report")
            runs = [measure([report, args.view, "--jobs=2", folder]) for _ in range(3)]
        wall, cpu, peak, output, own = min(runs)
        if args.view == "ranks" and f"straggler  rank {ranks // 2} (" not in output:
            raise SystemExit(f"the straggler of {ranks} ranks was not found:\n{output}")
        share = cpu / ranks / args.steps * 1e6
        print(
            f"| {ranks:,} | {args.steps:,} | {size / 2**20:.1f} MiB | {cpu:.2f} s "
            f"| {share:.2f} µs | {wall:.2f} s | {peak:.0f} MiB | {own:.0f} MiB |",
            flush=True,
        )


if __name__ == "__main__":
    main()
