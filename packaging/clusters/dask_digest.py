#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Digests runs on the workers of a Dask cluster, and merges the digests as a tree.

    dask_digest.py [--scheduler ADDRESS] RUN... -o FILE.spd

The workers read the runs by the same names as this program, and each has the same
stageprof-report (--report). Digests travel between workers as bytes, so nothing is left in a shared
folder. Dask does the work of a lost worker again, on the others.

FILE has the bytes that `stageprof-report digest RUN... -o FILE` makes on one machine. A run that
cannot be read is named, the others are digested, and the status is 1.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

from distributed import Client, LocalCluster, as_completed


def version_of(report):
    done = subprocess.run([report, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0]


def made(report, inputs, folder):
    """The digest of the inputs, or None, and what stageprof-report said of them."""
    path = os.path.join(folder, "made.spd")
    command = [report, "digest", "--quiet", *inputs, "-o", path]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode < 0:  # killed, by the memory of the node perhaps: Dask tries again
        raise RuntimeError(f"{report} ended by signal {-done.returncode}")
    if done.returncode != 0:
        return None, done.stderr
    with open(path, "rb") as file:
        return file.read(), done.stderr


def digest(report, run):
    with tempfile.TemporaryDirectory() as folder:
        data, said = made(report, [run], folder)
    return data, said, [] if data else [run]


def merge(report, parts):
    """Parts are (digest or None, words, runs that could not be read); the result is one, too."""
    words = "".join(part[1] for part in parts)
    bad = [run for part in parts for run in part[2]]
    parts = [part[0] for part in parts if part[0] is not None]
    if len(parts) < 2:
        return parts[0] if parts else None, words, bad
    with tempfile.TemporaryDirectory() as folder:
        inputs = []
        for i, data in enumerate(parts):
            inputs.append(os.path.join(folder, f"{i}.spd"))
            with open(inputs[-1], "wb") as file:
                file.write(data)
        whole, said = made(report, inputs, folder)
    if whole is None:
        raise RuntimeError(said)
    # The names of these files say nothing to the user, and the parts named their damage.
    lines = [line for line in said.splitlines(True) if folder not in line]
    return whole, words + "".join(lines), bad


def tree_of(client, args):
    """All futures, of which the last one is the whole."""
    options = {"retries": args.retries, "pure": False}
    level = [client.submit(digest, args.report, run, **options) for run in args.runs]
    futures = list(level)
    while len(level) > 1:
        groups = [level[i : i + args.fan_in] for i in range(0, len(level), args.fan_in)]
        level = [client.submit(merge, args.report, group, **options) for group in groups]
        futures += level
    return futures


class Progress:
    WIDTH, EVERY_S = 30, 0.1

    def __init__(self, total, is_shown):
        self.total, self.is_shown, self.drawn_at = total, is_shown, 0.0

    def show(self, done):
        now = time.monotonic()
        if not self.is_shown or (done < self.total and now - self.drawn_at < self.EVERY_S):
            return
        self.drawn_at = now
        bar = "#" * (self.WIDTH * done // self.total)
        end = "\n" if done == self.total else ""
        print(f"\r[{bar:<{self.WIDTH}}] {done} of {self.total}", end=end, file=sys.stderr)
        sys.stderr.flush()


def wait_for(futures, is_shown):
    """A future whose worker is lost goes back to pending, so finished ones are counted again."""
    progress = Progress(len(futures), is_shown)
    for _ in as_completed(futures):
        progress.show(sum(future.done() for future in futures))


def check_workers(client, args):
    """Two versions of stageprof or of zstd may make different bytes."""
    mine = version_of(args.report)
    for worker, theirs in client.run(version_of, args.report).items():
        if theirs != mine:
            sys.exit(f"dask_digest: worker {worker} has {theirs}, this machine has {mine}")


def write(path, data, is_forced):
    if os.path.lexists(path) and not is_forced:
        sys.exit(f"dask_digest: {path}: exists; --force replaces it")
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb") as file:
            file.write(data)
            os.fsync(file.fileno())
        os.rename(part, path)
    finally:
        if os.path.exists(part):
            os.unlink(part)


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run or a digest")
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="else the cores of this machine")
    parser.add_argument("--workers", type=int, help="of this machine; default: one a core")
    parser.add_argument("--report", default="stageprof-report", help="its path on each worker")
    parser.add_argument("--fan-in", type=int, default=16, help="digests that are merged at once")
    parser.add_argument("--retries", type=int, default=3, help="of work that failed")
    parser.add_argument("--force", action="store_true", help="replace FILE")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    args = parser.parse_args()
    if args.fan_in < 2:
        parser.error("--fan-in is 2 or more")
    args.runs = [run if "://" in run else os.path.abspath(run) for run in args.runs]
    return args


def work(client, args):
    check_workers(client, args)
    futures = tree_of(client, args)
    wait_for(futures, not args.quiet and sys.stderr.isatty())
    return futures[-1].result()


def main():
    args = options()
    if args.scheduler:
        with Client(args.scheduler) as client:
            data, said, bad = work(client, args)
    else:
        count = args.workers or os.cpu_count()
        with LocalCluster(count, threads_per_worker=1, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                data, said, bad = work(client, args)
    sys.stderr.write(said)
    for run in bad:
        print(f"dask_digest: {run}: not digested", file=sys.stderr)
    if data is None:
        sys.exit("dask_digest: nothing was digested")
    write(args.output, data, args.force)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
