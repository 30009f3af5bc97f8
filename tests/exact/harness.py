# SPDX-License-Identifier: Apache-2.0
"""Runs a victim with and without the preload and compares its own account with the report's.

The rules (each check names the one it breaks):
  same      stdout and exit status are those of the untraced run; stderr gains at most one line
  exact     what the victim counted is what the report says: calls and bytes, by stage, process and
            file. A call that never returned may be reported or not: calls <= reported <= begun
  valid     `zstd -t` accepts every file, at any time
  counted   recorded + lost == emitted

Environment: STAGEPROF_TEST_LIB, STAGEPROF_TEST_REPORT, STAGEPROF_TEST_VICTIMS (a folder);
STAGEPROF_TEST_EXCEPT: the cases that cannot run here, "CLASS.CASE CLASS.CASE".
"""

import collections
import glob
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

SKIP = 77
VICTIM_FAILED = (97, 98, 99)  # tests/programs/victims/tally.c
# How often a race is run; the table of faults has the number for the night.
REPEATS = int(os.environ.get("STAGEPROF_TEST_REPEATS", "50"))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = os.path.join(ROOT, "tests", "programs", "victims")

# Stages that a C victim must account for to the last call, even where it counted none.
STRICT = (
    "file_open file_read file_write file_close import_open import_read ipc_read ipc_write "
    "ipc_connect net_read net_write net_connect device_read device_write proc_read unknown_read unknown_write mmap munmap dup jpeg_decode "
    "other"
).split()

Row = collections.namedtuple("Row", "pid tid stage path begun calls bytes")


class Tally:
    """The victim's account: tests/programs/victims/tally.h."""

    ROW = struct.Struct("<II24s72sQQQ")

    def __init__(self, path, rows=65536):
        self.path = path
        with open(path, "wb") as file:
            file.truncate(rows * self.ROW.size)

    def rows(self):
        with open(self.path, "rb") as file:
            taken = struct.unpack("<Q", file.read(self.ROW.size)[:8])[0]
            data = file.read(taken * self.ROW.size)
        text = lambda b: b.split(b"\0")[0].decode()
        return [
            Row(pid, tid, text(stage), text(path), begun, calls, nbytes)
            for pid, tid, stage, path, begun, calls, nbytes in self.ROW.iter_unpack(data)
        ]


Bounds = collections.namedtuple("Bounds", "calls begun bytes")


def bounds(rows, key):
    """Sums of rows by key(row); rows with key None are left out."""
    sums = {}
    for row in rows:
        if key(row) is not None:
            old = sums.get(key(row), Bounds(0, 0, 0))
            sums[key(row)] = Bounds(
                old.calls + row.calls, old.begun + row.begun, old.bytes + row.bytes
            )
    return sums


def environment(name):
    value = os.environ.get(name)
    if not value or not os.path.exists(value):
        raise RuntimeError(f"{name} names nothing: {value}")
    return value


def victim(name):
    path = os.path.join(environment("STAGEPROF_TEST_VICTIMS"), name)
    if not os.path.exists(path):
        raise unittest.SkipTest(f"{name} was not built")
    return path


class Trace:
    """A run directory and what stageprof-report says of it."""

    def __init__(self, path):
        self.path = path

    def exists(self):
        """True where anything is recorded; the run's marker alone is nothing."""
        return any(not os.path.basename(name).startswith("0-run-") for name in self.files())

    def files(self):
        return sorted(glob.glob(os.path.join(glob.escape(self.path), "*")))

    def report(self, view, *options, source=None):
        command = [
            environment("STAGEPROF_TEST_REPORT"),
            view,
            "--format=json",
            *options,
            source or self.path,
        ]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        is_empty = done.returncode == 1 and b"[SP203]" in done.stderr  # no event is selected
        if done.returncode != 0 and not is_empty:
            raise AssertionError(
                f"{' '.join(command)}: status {done.returncode}: {done.stderr.decode()}"
            )
        return json.loads(done.stdout)

    def stages(self, *options, source=None):
        """Stage name to its JSON object, and the run's."""
        answer = self.report("stages", *options, source=source)
        return {stage["stage"]: stage for stage in answer["stages"]}, answer["run"]

    def images(self):
        """(pid, start) of each process image, from the files' headers (trace/format.h)."""
        begin = struct.pack("<II8s", 0x184D2A50, 504, b"STAGEPRF")
        found = set()
        for name in self.files():
            with open(name, "rb") as file:
                data = file.read()
            at = data.find(begin)
            while at >= 0:
                found.add(struct.unpack_from("<I12xQ", data, at + 48))
                at = data.find(begin, at + 1)
        return found

    def invalid_files(self):
        """The complaints of `zstd -t`; empty if there are none."""
        said = ""
        files = self.files()
        for at in range(0, len(files), 500):
            done = subprocess.run(
                ["zstd", "-tq", "--", *files[at : at + 500]], stderr=subprocess.PIPE
            )
            if done.returncode != 0:
                said += done.stderr.decode() or f"zstd: status {done.returncode}"
        return said

    def everything(self):
        """All that the run says: its files' names and bytes, and every view that prints texts of
        it, for names in a block are spread over its columns."""
        said = "\n".join(self.files()).encode()
        for name in self.files():
            with open(name, "rb") as file:
                said += file.read()
        for view in (
            "dump",
            "files",
            "processes",
            "threads",
            "summary",
            "stacks",
            "sync",
            "ranges",
        ):
            said += json.dumps(self.report(view, "--limit=all")).encode()
        return said.replace(self.path.encode(), b"")

    def concatenate(self):
        target = self.path + "-concatenated"
        with open(target, "wb") as out:
            for name in self.files():
                with open(name, "rb") as part:
                    shutil.copyfileobj(part, out)
        return target


class Outcome:
    """One traced run of a victim."""

    def __init__(self, folder, trace, tally, done):
        self.folder, self.trace, self.tally, self.done = folder, trace, tally, done

    def rows(self):
        return self.tally.rows()

    def notes(self):
        return [line for line in self.stderr_lines() if line.startswith("stageprof:")]

    def errors(self):
        """The program's own lines on stderr."""
        return [line for line in self.stderr_lines() if not line.startswith("stageprof:")]

    def stderr_lines(self):
        return self.done.stderr.decode(errors="replace").splitlines()


def traced_environment(folder, extra=None):
    env = {name: value for name, value in os.environ.items() if not name.startswith("STAGEPROF_")}
    env["LD_PRELOAD"] = environment("STAGEPROF_TEST_LIB")
    env["STAGEPROF_OUTPUT"] = os.path.join(folder, "run.zst")
    env["TALLY"] = os.path.join(folder, "tally")
    if os.environ.get("STAGEPROF_TEST_MODE"):
        env["STAGEPROF_MODE"] = os.environ["STAGEPROF_TEST_MODE"]
    env.update(extra or {})
    return env


class Case(unittest.TestCase):
    """Every test gets folders of its own, removed when it passed."""

    def setUp(self):
        if self.id().split(".", 1)[1] in os.environ.get("STAGEPROF_TEST_EXCEPT", "").split():
            self.skipTest("STAGEPROF_TEST_EXCEPT names it")
        environment("STAGEPROF_TEST_LIB")
        environment("STAGEPROF_TEST_REPORT")
        self.folder = tempfile.mkdtemp(prefix="stageprof-exact-")
        self.addCleanup(self.remove)

    def remove(self):
        failed = any(error for _, error in getattr(self._outcome, "errors", []) or [])
        result = getattr(self._outcome, "result", None)
        told = getattr(result, "failures", []) + getattr(result, "errors", [])
        failed = failed or any(test is self for test, _ in told)
        if not (failed and os.environ.get("STAGEPROF_TEST_KEEP")):
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            print("kept:", self.folder)

    def subfolder(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(path)
        return path

    def execute(
        self, argv, folder, traced=True, env=None, timeout=120, may_fail=False, **options
    ):
        """Runs to the end in `folder`; a hang is a failure, as is a victim's EXPECT that does not
        hold, unless it may_fail."""
        tally = Tally(os.path.join(folder, "tally"))
        full = traced_environment(folder, env)
        if not traced:
            for name in [n for n in full if n == "LD_PRELOAD" or n.startswith("STAGEPROF_")]:
                del full[name]
        cwd = os.path.join(folder, "cwd")
        os.makedirs(cwd, exist_ok=True)
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        options.update(pipes, cwd=cwd, env=full, start_new_session=True)
        with subprocess.Popen(argv, **options) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        done = subprocess.CompletedProcess(argv, process.returncode, out, err)
        if done.returncode in VICTIM_FAILED and not may_fail:
            raise AssertionError(f"the victim itself failed: {err.decode(errors='replace')}")
        if done.returncode == SKIP:
            raise unittest.SkipTest(done.stdout.decode(errors="replace").strip())
        return Outcome(folder, Trace(os.path.join(folder, "run.zst")), tally, done)

    def both(self, *argv, env=None, notes=0, name="", **options):
        """Runs without and with the preload; checks `same`; returns the traced outcome. A program
        may differ from itself: Python's resource tracker warns in one run of many. Where stderr
        differs, the program without the preload gets a second run."""
        plain = self.execute(argv, self.subfolder(name + "plain"), traced=False, env=env, **options)
        traced = self.execute(argv, self.subfolder(name + "traced"), env=env, **options)
        if plain.errors() != traced.errors():
            folder = self.subfolder(name + "plain-again")
            plain = self.execute(argv, folder, traced=False, env=env, **options)
        self.assert_same(plain, traced, notes)
        return traced

    def assert_same(self, plain, traced, notes=0):
        ours = traced.notes()
        self.assertEqual(
            plain.done.returncode,
            traced.done.returncode,
            f"same: exit status; stderr: {traced.done.stderr.decode(errors='replace')}",
        )
        self.assertEqual(plain.done.stdout, traced.done.stdout, "same: stdout")
        self.assertEqual(plain.errors(), traced.errors(), "same: stderr")
        self.assertLessEqual(len(ours), notes, f"same: lines of ours: {ours}")

    def assert_valid(self, trace):
        self.assertTrue(trace.exists(), f"valid: no trace at {trace.path}")
        self.assertEqual(trace.invalid_files(), "", "valid: zstd -t")

    def assert_within(self, bound, calls, nbytes, what):
        self.assertTrue(
            bound.calls <= calls <= bound.begun,
            f"exact: {what}: counted {bound.calls} to {bound.begun}, reported {calls}",
        )
        if nbytes is not None and bound.calls == bound.begun:
            self.assertEqual(bound.bytes, nbytes, f"exact: {what}: bytes")
        elif nbytes is not None:
            self.assertGreaterEqual(nbytes, 0, f"exact: {what}: bytes")

    def assert_stages(self, rows, stages, what, strict=STRICT):
        counted = bounds(rows, lambda row: row.stage)
        for name in sorted(set(counted) | set(strict)):
            said = stages.get(name, {"calls": 0, "bytes": 0})
            nbytes = said["bytes"] if name.endswith(("read", "write")) or name == "mmap" else None
            self.assert_within(
                counted.get(name, Bounds(0, 0, 0)), said["calls"], nbytes, f"{what} {name}"
            )

    def assert_processes(self, rows, trace, strict=STRICT, most=40):
        pids = sorted({row.pid for row in rows if row.begun})
        if len(pids) < 2:
            return
        listed = {process["pid"] for process in trace.report("processes")["processes"]}
        surely = {row.pid for row in rows if row.calls}
        self.assertLessEqual(surely, listed, "exact: processes that are not in the report")
        for pid in pids[:most]:
            if pid in listed:
                stages, _ = trace.stages(f"--process={pid}")
                self.assert_stages(
                    [row for row in rows if row.pid == pid], stages, f"process {pid}", strict
                )

    def assert_threads(self, rows, trace):
        """Threads of children, whose only events are calls that they count; an image that was left
        by exec holds that one event, of no duration."""
        reported = {}
        for thread in trace.report("threads", "--limit=all")["threads"]:
            key = (thread["pid"], thread["tid"])
            if thread["events"] == 1 and thread["total_ns"] == 0:
                continue
            reported[key] = reported.get(key, 0) + thread["events"]
        counted = bounds(rows, lambda row: (row.pid, row.tid) if row.pid != rows[0].pid else None)
        wrong = [
            f"{key}: counted {bound.calls} to {bound.begun}, reported {reported.get(key, 0)}"
            for key, bound in counted.items()
            if not bound.calls <= reported.get(key, 0) <= bound.begun
        ]
        self.assertEqual(wrong, [], f"exact: {len(wrong)} of {len(counted)} threads")

    def assert_paths(self, rows, trace):
        """Rows that name a file, against the view of files; reads only."""
        counted = bounds(
            rows, lambda row: row.path if row.stage == "file_read" and row.path else None
        )
        if not counted:
            return
        reported = reads_by_name(trace)
        for path, bound in counted.items():
            calls, nbytes = reported.get(os.path.basename(path), (0, 0))
            self.assert_within(bound, calls, nbytes, f"file {path}")

    def assert_concatenation(self, trace):
        of_folder, run = trace.stages()
        of_one, run_of_one = trace.stages(source=trace.concatenate())
        self.assertEqual(of_folder, of_one, "the concatenation's report differs from the folder's")
        self.assertEqual(run["events_recorded"], run_of_one["events_recorded"])
        self.assertEqual(run["events_lost"], run_of_one["events_lost"])

    def assert_exact(self, outcome, strict=STRICT):
        """All rules for a run in which nothing may be lost."""
        rows, trace = outcome.rows(), outcome.trace
        self.assertTrue(rows, "the victim counted nothing")
        self.assert_valid(trace)
        stages, run = trace.stages()
        self.assertEqual(run["events_lost"], 0, "counted: events lost")
        self.assertEqual(
            run["events_recorded"],
            sum(s["calls"] for s in stages.values()),
            "counted: the stages hold every event",
        )
        self.assert_stages(rows, stages, "run", strict)
        self.assert_processes(rows, trace, strict)
        self.assert_paths(rows, trace)
        self.assert_concatenation(trace)

    def assert_counted(self, outcome):
        """Something may be lost, but recorded + lost == emitted; or nothing could be written at
        all, and the run says so in a line."""
        if not outcome.trace.exists():
            self.assertEqual(len(outcome.notes()), 1, "no trace, and not a word about it")
            return
        self.assert_valid(outcome.trace)
        stages, run = outcome.trace.stages()
        of_processes = stages.get("process", {"calls": 0})["calls"]
        said = run["events_recorded"] - of_processes + run["events_lost"]
        rows = outcome.rows()
        emitted = Bounds(sum(row.calls for row in rows), sum(row.begun for row in rows), 0)
        what = f"{run['events_recorded']} - {of_processes} of processes + {run['events_lost']} lost"
        self.assert_within(emitted, said, None, what)


def reads_by_name(trace):
    """Base name to (read calls, bytes read), from the view of files."""
    sums = {}
    for file in trace.report("files", "--limit=all")["files"]:
        name = os.path.basename(file["name"])
        calls, nbytes = sums.get(name, (0, 0))
        # null: opened by fopen, and read in no call that is recorded
        sums[name] = (calls + (file["reads"] or 0), nbytes + (file["read_bytes"] or 0))
    return sums


def main():
    """unittest's main, but a run in which every test was skipped exits 77 and says why."""
    result = unittest.main(module="__main__", exit=False, verbosity=2).result
    if result.testsRun == len(result.skipped) and result.wasSuccessful():
        for _, reason in result.skipped:
            print("skipped:", reason)
        sys.exit(SKIP)
    sys.exit(not result.wasSuccessful())
