# SPDX-License-Identifier: Apache-2.0
"""The files and the file system calls of a process of few events, in the folder of the run.

The numbers are those of docs/PERFORMANCE.md, "Files and metadata calls".
"""

import collections
import os
import re
import shutil
import subprocess
import sys

import harness

BENCH = os.path.join(os.environ.get("STAGEPROF_TEST_PROGRAMS", ""), "bench")

# A thread or process that makes one event and ends, beside a process of the run that goes on: its
# calls on the run's folder, at most. `exec`: a process that joins the run; `fork`: a forked one;
# `alone`: one that joins while no other process of the run is there.
MAPPED_PROCESS = {"files": 0, "lookups": 5, "writes": 0.5}
MOST = {
    ("map", "exec"): MAPPED_PROCESS,
    ("map", "fork"): {"files": 0, "lookups": 2, "writes": 0.5},
    ("map", "thread"): {"files": 0, "lookups": 2, "writes": 0.5},
    ("map", "alone"): MAPPED_PROCESS,
    ("write", "alone"): {
        "files": 1,
        "lookups": 6,
        "creations": 1,
        "renames": 1,
        "writes": 8,
        "truncations": 1,
    },
    ("write", "exec"): {"files": 0, "lookups": 7, "writes": 9},
    ("write", "fork"): {"files": 0, "lookups": 4, "writes": 9},
    ("write", "thread"): {"files": 0, "lookups": 2, "writes": 5},
}

SLACK = 0.2  # of what a run does once

PARENT = r"""
import os, sys, threading
how, times, page, idle = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
file = os.open(page, os.O_RDONLY)
os.pread(file, 1, 0)
for _ in range(times):
    if how == "thread":
        thread = threading.Thread(target=os.pread, args=(file, 1, 0))
        thread.start()
        thread.join()
        # Python joins it before it has ended; this call makes no event, however often it is needed
        try:
            while True: os.sched_getscheduler(thread.native_id)
        except ProcessLookupError:
            continue
    if how == "exec":
        pid = os.posix_spawn(idle, [idle, page], os.environ)
    else:
        pid = os.fork()
        if not pid:
            os.pread(file, 1, 0)
            os._exit(0)
    os.waitpid(pid, 0)
"""

KINDS = {
    "lookups": ("open", "openat", "openat2", "faccessat", "newfstatat"),
    "renames": ("rename", "renameat", "renameat2", "link", "linkat"),
    "writes": ("write", "pwrite64", "pwritev"),
    "truncations": ("ftruncate", "fallocate"),
    "removals": ("unlink", "unlinkat", "rmdir", "mkdir", "mkdirat"),
    "waits": ("fsync", "fdatasync", "flock", "sync_file_range"),
}


def kind_of(line):
    call = re.match(r"(?:\d+ +)?(\w+)\(", line)
    if call and call.group(1).startswith("openat") and "O_CREAT" in line:
        return "creations"
    return next((kind for kind, names in KINDS.items() if call and call.group(1) in names), None)


class Footprint(harness.Case):
    def counts(self, times, mode, how):
        folder = self.subfolder(f"{mode}-{how}-{times}")
        log = os.path.join(folder, "log")
        env = harness.traced_environment(folder, {"STAGEPROF_MODE": mode})
        preload = env.pop("LD_PRELOAD")
        page = os.path.join(folder, "page")
        with open(page, "wb") as file:
            file.write(b"x")
        # A parent that waits for its children makes events, so that it is of the run itself.
        variable = "BENCH_PRELOAD=" if how == "alone" else "LD_PRELOAD="
        command = ["strace", "-f", "-y", "-qq", "-o", log, "-E", variable + preload]
        idle = os.path.join(BENCH, "idle")
        if how == "alone":
            command += [os.path.join(BENCH, "spawn_loop"), str(times), idle, page]
        else:
            command += [sys.executable, "-S", "-c", PARENT, how, str(times), page, idle]
        done = subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        found = collections.Counter()
        run = env["STAGEPROF_OUTPUT"]
        with open(log) as file:
            for line in file:
                if run in line and kind_of(line):
                    found[kind_of(line)] += 1
        found["files"] = len(os.listdir(run))
        return found

    @harness.unittest.skipUnless(shutil.which("strace"), "no strace")
    def test_calls(self):
        for (mode, how), most in MOST.items():
            with self.subTest(mode=mode, how=how):
                few, many = self.counts(2, mode, how), self.counts(22, mode, how)
                each = {kind: (many[kind] - few[kind]) / 20 for kind in set(many) | set(most)}
                print(mode, how, each)
                for kind, count in each.items():
                    self.assertLessEqual(count, most.get(kind, 0) + SLACK, f"{kind}: {each}")


WORKERS = r"""
import os, subprocess, sys, threading
how, epochs = sys.argv[1], int(sys.argv[2])
page = open("page", "w+b")
page.write(b"x" * 4096)
page.flush()
def read(times):
    for _ in range(times): os.pread(page.fileno(), 16, 0)
def linger(ready, end):
    read(50)
    ready.set()
    os.read(end, 1)
def work():
    threads = [threading.Thread(target=read, args=(50,)) for _ in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    if how == "alive":
        ready, pipe = threading.Event(), os.pipe()
        threading.Thread(target=linger, args=(ready, pipe[0]), daemon=True).start()
        ready.wait()
    read(50)
    if how == "killed": os.kill(os.getpid(), 9)
def begin():
    "Returns the function that waits for the new process."
    if how == "spawned":
        return subprocess.Popen([sys.executable, "-S", __file__, how, "-1"]).wait
    pid = os.fork()
    if not pid:
        work()
        os._exit(0)
    return lambda: os.waitpid(pid, 0)
if epochs < 0:
    work()
else:
    read(50)
    for _ in range(epochs):
        for wait in [begin() for _ in range(2)]: wait()
"""


class Epochs(harness.Case):
    """New workers in each epoch, four or five threads each, use the files of those before them."""

    READS = {"ended": 200, "alive": 250, "killed": 200, "spawned": 200}
    # two workers with five threads at once, the process itself, the marker, and what the report
    # collects of the last two workers
    MOST_FILES = 2 * 5 + 2 + 2
    # In write mode the memory of a killed worker is collected while the next ones run, and its
    # files are not free until then: those of three epochs are in use. On a slow machine the same
    # holds for a worker that ends, where an append takes longer than it may wait. 30 epochs have
    # 300 threads.
    MOST_FILES_COLLECTED = 3 * 2 * 5 + 2 + 2

    def test_files(self):
        for mode in ("map", "write"):
            for how, reads in self.READS.items():
                epochs = 10 if how == "spawned" else 30
                with self.subTest(mode=mode, how=how):
                    self.check(mode, how, epochs, 50 + 2 * epochs * reads)

    def check(self, mode, how, epochs, reads):
        folder = self.subfolder(f"{mode}-{how}")
        script = os.path.join(folder, "workers.py")
        with open(script, "w") as file:
            file.write(WORKERS)
        command = [sys.executable, "-S", script, how, str(epochs)]
        outcome = self.execute(command, folder, env={"STAGEPROF_MODE": mode})
        self.assertEqual(outcome.done.returncode, 0, outcome.done.stderr.decode())
        calls = harness.reads_by_name(outcome.trace)["page"][0]
        run = outcome.trace.stages()[1]
        self.assertEqual((calls, run["events_lost"]), (reads, 0))
        self.assertEqual(set(run["damage"].values()), {0}, run["damage"])
        self.assert_valid(outcome.trace)
        files = len(outcome.trace.files())
        print(mode, how, files, "files")
        self.assertLessEqual(
            files, self.MOST_FILES if mode == "map" else self.MOST_FILES_COLLECTED
        )


FEW = 3
OWN_NAME = 44  # calls of one process, at most
NUMBERS = 64  # names with a number, each of which a process looks at four times at most


class ManyAtOnce(harness.Case):
    """Ranks that nobody but a scheduler started begin at once, and record into one folder."""

    def calls(self, layout, ranks):
        """The calls of each process that name the shared folder, or a file in it."""
        folder = self.subfolder(re.sub("[/%]", "-", layout) + str(ranks))
        shared, log = os.path.join(folder, "shared"), os.path.join(folder, "log")
        os.mkdir(shared)
        page = os.path.join(folder, "page")
        with open(page, "wb") as file:
            file.write(b"x")
        env = harness.traced_environment(folder)
        preload = env.pop("LD_PRELOAD")
        env["STAGEPROF_OUTPUT"] = os.path.join(shared, layout)
        each = f'RANK=$i WORLD_SIZE={ranks} LD_PRELOAD={preload} "$0" "$1" &'
        script = f"for i in $(seq 0 {ranks - 1}); do {each} done; wait"
        command = ["strace", "-f", "-y", "-qq", "-e", "signal=none", "-o", log, "sh", "-c", script]
        command += [os.path.join(BENCH, "idle"), page]
        done = subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.assertEqual(done.stderr, b"")
        found, owner, shell = collections.Counter(), {}, None
        with open(log) as file:
            for line in file:
                task = line.split()[0]
                shell = shell or task
                made = re.search(r"clone.* = (\d+)$", line)
                if made and task != shell:  # a task of the recorder, of that process
                    owner[made[1]] = task
                if shared in line and not re.match(r"\d+ +(execve|<\.\.\.)", line):
                    found[task] += 1
        for task in owner.keys() & found.keys():
            found[owner[task]] += found.pop(task)
        self.assertEqual(len(found), ranks)
        runs = [where for where, _, _ in os.walk(shared) if where.endswith(".zst")]
        self.assertEqual(len(runs), ranks)
        report = [os.environ["STAGEPROF_TEST_REPORT"], "processes", "--format=csv", *runs]
        rows = subprocess.run(report, stdout=subprocess.PIPE, check=True).stdout.splitlines()
        self.assertEqual(len(rows) - 1, ranks)
        return max(found.values()), runs

    @harness.unittest.skipUnless(shutil.which("strace"), "no strace")
    def test_a_bounded_number_of_calls(self):
        for layout, ranks, most in (
            ("run-%r.zst", 30, OWN_NAME),
            ("%h/%r.zst", 30, OWN_NAME),
            ("%h/job/rank-%r/run.zst", 30, OWN_NAME),
            ("run.zst", 140, OWN_NAME + 4 * NUMBERS),  # would be about 400 without the bound
        ):
            few, many = self.calls(layout, FEW)[0], self.calls(layout, ranks)[0]
            print(f"{layout}: {few} calls of each of {FEW} processes, {many} of {ranks}")
            self.assertLessEqual(few, most, layout)
            self.assertLessEqual(many, most, layout)

    def test_folders_of_hosts(self):
        """%h is the host's name, and a folder of that name is made; one that is written out is
        not."""
        runs = self.calls("%h/%r.zst", 2)[1]
        host = os.uname().nodename
        found = sorted(run.split("/")[-2:] for run in runs)
        self.assertEqual(found, [[host, "0.zst"], [host, "1.zst"]])
        folder = self.subfolder("typo")
        env = harness.traced_environment(folder, {"STAGEPROF_OUTPUT": folder + "/typo/run-%r.zst"})
        done = subprocess.run(
            [os.path.join(BENCH, "idle"), os.path.join(folder, "page")],
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.assertFalse(os.path.exists(os.path.join(folder, "typo")), done.stderr)


if __name__ == "__main__":
    harness.main()
