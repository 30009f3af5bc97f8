# SPDX-License-Identifier: Apache-2.0
"""The files and the file system calls of a process of few events, in the folder of the run.

The numbers are those of docs/PERFORMANCE.md, "Files and metadata calls".
"""

import collections
import os
import re
import shutil
import subprocess

import harness

BENCH = os.path.join(os.environ.get("STAGEPROF_TEST_PROGRAMS", ""), "bench")

# A process that joins a run, makes one event and ends: its calls on the run's folder, at most.
MAPPED = {"files": 0, "lookups": 5, "writes": 0.5}
WRITTEN = {"files": 1, "lookups": 6, "creations": 1, "renames": 1, "writes": 7, "truncations": 2}

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
    def counts(self, processes, mode):
        folder = self.subfolder(f"{mode}-{processes}")
        log = os.path.join(folder, "log")
        env = harness.traced_environment(folder, {"STAGEPROF_MODE": mode})
        preload = env.pop("LD_PRELOAD")
        page = os.path.join(folder, "page")
        with open(page, "wb") as file:
            file.write(b"x")
        command = ["strace", "-f", "-y", "-qq", "-o", log, "-E", "LD_PRELOAD=" + preload]
        command += [os.path.join(BENCH, "spawn_loop"), str(processes)]
        command += [os.path.join(BENCH, "idle"), page]
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

    def check(self, mode, most):
        few, many = self.counts(2, mode), self.counts(12, mode)
        each = {kind: (many[kind] - few[kind]) / 10 for kind in set(many) | set(most)}
        print(mode, each)
        for kind, count in each.items():
            self.assertLessEqual(count, most.get(kind, 0), f"{mode}: {kind} of a process: {each}")
        self.assertEqual(each["files"], most["files"])

    @harness.unittest.skipUnless(shutil.which("strace"), "no strace")
    def test_calls_of_a_process(self):
        self.check("map", MAPPED)
        self.check("write", WRITTEN)


if __name__ == "__main__":
    harness.main()
