# SPDX-License-Identifier: Apache-2.0
"""Ends that come from outside: the kernel's out-of-memory killer, and the death of what stands
beside the recorded program."""

import hashlib
import os
import random
import shutil
import signal
import subprocess
import time

import harness
from harness import victim

HERE = os.path.dirname(os.path.abspath(__file__))


class OutOfMemory(harness.Case):
    THREADS = 3

    def test_killer(self):
        """A whole kernel with little memory, as a user's program: its killer can pick nothing of
        the host's, and no control group of the host is touched."""
        linux = shutil.which("linux.uml")
        if not linux:
            self.skipTest("no linux.uml: the package user-mode-linux is missing")
        folder = self.subfolder("machine")
        tally = harness.Tally(os.path.join(folder, "tally"))
        console = self.boot(linux, folder, victim("memory_hog"), str(self.THREADS))
        if not os.path.exists(os.path.join(folder, "status")):
            self.skipTest("user-mode Linux does not run here: " + console[-200:])
        with open(os.path.join(folder, "status")) as file:
            self.assertEqual(file.read(), f"{128 + signal.SIGKILL}\n")
        self.assertRegex(console, r"Out of memory: Killed process \d+ \(memory_hog\)")
        self.assertNotIn("stageprof:", console)
        self.assert_exact(
            harness.Outcome(folder, harness.Trace(os.path.join(folder, "run.zst")), tally, None)
        )
        self.assertEqual(len({row.tid for row in tally.rows()}), 1 + self.THREADS)
        self.assertGreater(sum(row.calls for row in tally.rows()), 1000)

    def boot(self, linux, folder, *argv):
        machine = ["mem=128M", "rootfstype=hostfs", "rw", f"uml_dir={folder}/"]
        terminal = ["con=null", "con0=null,fd:1", "quiet", "init=/bin/sh"]
        script = os.path.join(HERE, "small_machine.sh")
        library = harness.environment("STAGEPROF_TEST_LIB")
        report = harness.environment("STAGEPROF_TEST_REPORT")
        done = subprocess.run(
            [linux, *machine, *terminal, "--", script, folder, library, report, *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=250,
        )
        return done.stdout.decode(errors="replace")


class Beside(harness.Case):
    """There is no helper that could die; and what does stand beside a run may."""

    def begin(self, folder, *before):
        """A victim that reads until it is stopped, under the launcher or by LD_PRELOAD."""
        env = harness.traced_environment(folder)
        self.tally = harness.Tally(env["TALLY"])
        if before:
            del env["LD_PRELOAD"]
        process = subprocess.Popen(
            [*before, victim("read_loop"), "2", "0", "until-stopped"],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.until(lambda: sum(row.calls for row in self.tally.rows()) > 200000)
        return process

    def until(self, condition):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end, "it does not come to it")
            time.sleep(0.02)

    def outcome(self, folder):
        trace = harness.Trace(os.path.join(folder, "run.zst"))
        return harness.Outcome(folder, trace, self.tally, None)

    def test_no_helper(self):
        """Two threads, no child, amid growing files and blocks being made."""
        folder = self.subfolder("run")
        process = self.begin(folder)
        # a file that grows is opened by a task of some microseconds: what stays is seen every time
        tasks, children = [], []
        for _ in range(20):
            tasks.append(set(os.listdir(f"/proc/{process.pid}/task")))
            with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
                children.append(set(file.read().split()))
            time.sleep(0.02)
        self.assertEqual(len(set.intersection(*tasks)), 2)
        self.assertEqual(set().union(*children), set())
        process.kill()
        process.wait()
        self.assert_exact(self.outcome(folder))

    def test_killed_launcher(self):
        launcher = os.path.join(harness.environment("STAGEPROF_TEST_PROGRAMS"), "stageprof")
        folder = self.subfolder("run")
        process = self.begin(folder, launcher, "run", "--")
        pid = self.tally.rows()[0].pid
        process.kill()
        process.wait()
        # it dies with its launcher, as soon as the kernel comes to it
        self.until(lambda: not os.path.exists(f"/proc/{pid}") or self.is_zombie(pid))
        self.assert_exact(self.outcome(folder))

    def is_zombie(self, pid):
        try:
            with open(f"/proc/{pid}/stat") as file:
                return file.read().rpartition(")")[2].split()[0] == "Z"
        except (FileNotFoundError, ProcessLookupError):
            return True

    def test_killed_report(self):
        """A report is made of a run again and again, however often one was killed."""
        folder = self.subfolder("run")
        process = self.begin(folder)
        process.kill()
        process.wait()
        trace = self.outcome(folder).trace
        expected = trace.report("summary")  # the first one makes files of the tails
        before = self.hashes(trace)
        command = [harness.environment("STAGEPROF_TEST_REPORT"), "summary", trace.path]
        began = time.monotonic()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        took = time.monotonic() - began
        killed = 0
        for _ in range(harness.REPEATS):
            report = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            time.sleep(random.random() * took)
            report.kill()
            killed += report.wait() == -signal.SIGKILL
        self.assertGreater(killed, 0, "no kill hit a report: the test tests nothing")
        self.assertEqual(self.hashes(trace), before)
        self.assertEqual(trace.report("summary"), expected)

    def hashes(self, trace):
        found = {}
        for path in trace.files():
            with open(path, "rb") as file:
                found[path] = hashlib.sha256(file.read()).hexdigest()
        return found


if __name__ == "__main__":
    harness.main()
