# SPDX-License-Identifier: Apache-2.0
"""A program that hangs inside of open: the report names the file, as STAGEPROF_PATHS allows, and
the hook makes no system call for it."""

import collections
import os
import shutil
import signal
import subprocess
import time

import harness
from harness import victim

LONG = "/".join(["a-folder-with-quite-a-name"] * 24)
COUNT = 20  # their events fit one window: no block is made


class InFlight(harness.Case):
    def begin(self, path, before=(), **settings):
        folder = self.subfolder(f"run-{len(os.listdir(self.folder))}")
        os.makedirs(os.path.dirname(os.path.join(folder, path)) or folder, exist_ok=True)
        os.mkfifo(os.path.join(folder, path))
        harness.Tally(os.path.join(folder, "tally"))
        env = {**harness.traced_environment(folder), **settings}
        if before:
            del env["LD_PRELOAD"]
        process = subprocess.Popen(
            [*before, victim("open_fifo"), path],
            cwd=folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.addCleanup(self.end, process)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.assertEqual(process.stdout.readline(), b"opens\n")
        return process, harness.Trace(os.path.join(folder, "run.zst"))

    def end(self, process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def call_in_open(self, trace):
        for _ in range(1000):
            calls = trace.report("summary")["in_flight"]
            if calls and calls[0]["event"] == "open":
                return calls[0]
        raise AssertionError("the program never was in open")

    def name_while_it_lives(self, path, **settings):
        process, trace = self.begin(path, **settings)
        call = self.call_in_open(trace)
        if call["file_missing"] == "refused":
            self.skipTest("the kernel lets ancestors alone read a process")
        process.kill()
        process.wait()
        after = trace.report("summary")["in_flight"][0]
        self.assertIsNone(after["file"])
        self.assertEqual(after["file_missing"], "process-ended" if call["file"] else None)
        return call["file"]

    def test_path(self):
        self.assertEqual(self.name_while_it_lives("data/fifo"), "data/fifo")

    def test_end_of_a_long_path(self):
        path = LONG + "/fifo"
        self.assertEqual(self.name_while_it_lives(path), "..." + path[3 - 448 :])

    def test_written_mode(self):
        self.assertEqual(
            self.name_while_it_lives("data/fifo", STAGEPROF_MODE="write"), "data/fifo"
        )

    def test_redacted(self):
        name = self.name_while_it_lives("data/fifo", STAGEPROF_PATHS="basename")
        self.assertEqual(name, "fifo")
        for kept in ("hash", "none"):
            self.assertIsNone(self.name_while_it_lives("data/fifo", STAGEPROF_PATHS=kept))

    def launched(self, **settings):
        binary = os.path.dirname(harness.environment("STAGEPROF_TEST_REPORT"))
        library = "--library=" + harness.environment("STAGEPROF_TEST_LIB")
        run = [os.path.join(binary, "stageprof"), "run", "-q", library, "--"]
        return self.begin("data/fifo", before=run, **settings)

    def until_noted(self, trace):
        deadline = time.monotonic() + 40
        while not any("0-calls-" in name for name in trace.files()):
            self.assertLess(time.monotonic(), deadline, "the launcher left no name")
            time.sleep(0.1)

    def name_of_killed(self, process, trace):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.assert_valid(trace)
        return trace.report("summary")["in_flight"][0]["file"]

    def test_killed_under_the_launcher(self):
        for settings, name in (
            ({}, "data/fifo"),
            ({"STAGEPROF_MODE": "write"}, "data/fifo"),
            ({"STAGEPROF_PATHS": "basename"}, "fifo"),
        ):
            with self.subTest(settings=settings):
                process, trace = self.launched(**settings)
                self.until_noted(trace)
                self.assertEqual(self.name_of_killed(process, trace), name)

    def test_ended_by_the_launcher_at_once(self):
        """The signal comes before the launcher has looked twice."""
        process, trace = self.launched()
        self.call_in_open(trace)
        process.send_signal(signal.SIGTERM)
        process.wait()
        self.assertEqual(trace.report("summary")["in_flight"][0]["file"], "data/fifo")


class NoSystemCall(harness.Case):
    """strace: opens make the system calls that they make without us. The first use of a descriptor
    adds the calls that define its file."""

    FIRST_USE = {"fstat", "readlinkat", "sigaltstack"}

    def setUp(self):
        super().setUp()
        if not shutil.which("strace"):
            self.skipTest("no strace")

    def calls_of(self, path, traced):
        """The loop's alone: what a process looks for at its start depends on other runs."""
        folder = self.subfolder(f"{os.path.basename(path)}-{traced}")
        log = os.path.join(folder, "log")
        env = harness.traced_environment(folder)
        preload = env.pop("LD_PRELOAD")
        command = ["strace", "-f", "-qq", "-o", log]
        command += ["-E", "LD_PRELOAD=" + preload] if traced else []
        command += [victim("open_loop"), str(COUNT), path]
        done = subprocess.run(command, cwd=folder, env=env, stderr=subprocess.PIPE)
        if done.returncode != 0:
            self.skipTest(f"strace: {done.stderr.decode()}")
        with open(log, encoding="utf-8") as file:
            names = [line.split()[1].split("(")[0] for line in file]
        begin, end = (i for i, name in enumerate(names) if name == "getsid")
        return collections.Counter(names[begin + 1 : end])

    def test_opens_that_fail(self):
        path = os.path.join(self.folder, "no-folder", "missing")
        plain, traced = (self.calls_of(path, how) for how in (False, True))
        self.assertEqual(sum(plain.values()), 3 * COUNT)
        self.assertEqual(traced, plain)

    def test_opens(self):
        path = os.path.join(self.folder, "file")
        plain, traced = (self.calls_of(path, how) for how in (False, True))
        added = traced - plain
        self.assertEqual(set(added), self.FIRST_USE)
        self.assertEqual(set(added.values()), {3 * COUNT})


if __name__ == "__main__":
    harness.main()
