# SPDX-License-Identifier: Apache-2.0
"""The shared part of the launcher's tests: the programs under test, folders, and a terminal.

Environment: STAGEPROF_TEST_BIN, the folder of stageprof and stageprof-report; STAGEPROF_TEST_LIB.
"""

import concurrent.futures
import ctypes
import os
import platform
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

SKIP = 77
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
BIN = os.environ["STAGEPROF_TEST_BIN"]
LIBRARY = os.environ["STAGEPROF_TEST_LIB"]
STAGEPROF = os.path.join(BIN, "stageprof")
REPORT = os.path.join(BIN, "stageprof-report")
# Past a version manager's shim, whose own programs would be between us and the interpreter.
PYTHON = os.path.realpath(sys.executable)


STATE = tempfile.TemporaryDirectory(prefix="stageprof-launch-state-")


def clean_environment(**more):
    """The caller's, with nothing of its own profiling, colours or width, and with no commands that
    the user has run."""
    dropped = ("STAGEPROF_", "LD_PRELOAD", "LD_DEBUG", "COLUMNS", "NO_COLOR", "CLICOLOR", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", "XDG_STATE_HOME": STATE.name, **more}


def compiled(folder, name, source, *flags, compiler="gcc"):
    """Builds a C program; skips the test where this compiler cannot."""
    if not shutil.which(compiler):
        raise unittest.SkipTest(f"no {compiler}")
    path, code = os.path.join(folder, name), os.path.join(folder, name + ".c")
    with open(code, "w") as file:
        file.write(source)
    done = subprocess.run([compiler, "-O1", *flags, code, "-o", path], stderr=subprocess.PIPE)
    if done.returncode != 0:
        last = done.stderr.decode().strip().splitlines()[-1:]
        raise unittest.SkipTest(f"{compiler} {' '.join(flags)} does not link: {last}")
    return path


def refuse(call):
    """In a child before exec: a filter of system calls fails the one of this number with EPERM."""
    rules = (
        (0x20, 0, 0, 0),  # the number of the call
        (0x15, 0, 1, call),
        (0x06, 0, 0, 0x00050001),  # SECCOMP_RET_ERRNO | EPERM
        (0x06, 0, 0, 0x7FFF0000),  # SECCOMP_RET_ALLOW
    )
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *rule) for rule in rules))
    program = struct.pack("@HP", len(rules), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):  # no new rights; seccomp
        os._exit(SKIP)


def refuse_to_read():
    """Fails process_vm_readv."""
    refuse({"x86_64": 310, "aarch64": 270}[platform.machine()])


def refuse_perf_events():
    refuse({"x86_64": 298, "aarch64": 241}[platform.machine()])


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="stageprof-launch-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def call(self, *argv, env=None, cwd=None, **options):
        """Runs to the end in this test's folder, with both outputs as text."""
        return subprocess.run(
            argv,
            env=env or clean_environment(),
            cwd=cwd or self.folder,
            stdin=options.pop("stdin", subprocess.DEVNULL),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            timeout=60,
            **options,
        )

    def run_under(self, *argv, options=(), **more):
        return self.call(STAGEPROF, "run", *options, "--", *argv, **more)

    def start(self, *argv, env=None):
        """A process of its own session that writes lines; ended with the test."""
        process = subprocess.Popen(
            argv,
            env=env or clean_environment(),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            start_new_session=True,
        )
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


class Terminal:
    """A program on a terminal of its own, of a size that the test chooses."""

    def __init__(self, case, argv, columns=80, env=None):
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.chdir(case.folder)
            os.execvpe(argv[0], argv, env or clean_environment(TERM="xterm"))
        self.text = ""
        resize(self.master, columns)
        case.addCleanup(self.close)

    def send(self, text):
        os.write(self.master, text.encode())

    def expect(self, pattern, seconds=20):
        """Reads until the pattern comes; forgets what came up to there, and returns it."""
        deadline = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.text)
            if found:
                before, self.text = self.text[: found.end()], self.text[found.end() :]
                return before
            if not self.read(deadline - time.monotonic()):
                raise AssertionError(f"no {pattern!r} on the terminal, but {self.text!r}")

    def read(self, seconds):
        ready, _, _ = select.select([self.master], [], [], max(0, seconds))
        try:
            data = os.read(self.master, 65536) if ready else b""
        except OSError:  # the program has gone, and its terminal with it
            data = b""
        self.text += data.decode(errors="replace")
        return data

    def rest(self):
        while self.read(20):
            pass
        return self.text

    def close(self):
        os.close(self.master)
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)


def resize(master, columns):
    import fcntl
    import struct
    import termios

    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def methods(names):
    """Names of the test methods of these classes of the program."""
    loaded = unittest.defaultTestLoader.loadTestsFromNames(names, sys.modules["__main__"])
    return [test.id().replace("__main__.", "") for suite in loaded for test in suite]


def main_together(at_once):
    """Each test method of the classes named is a process, AT_ONCE of them at a time, because they
    mostly wait. Each one's output comes whole, at its end."""

    def run_one(name):
        command = [sys.executable, "-B", sys.argv[0], name]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print(done.stdout.decode(errors="replace"), flush=True)
        return done.returncode

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        statuses = set(pool.map(run_one, methods(sys.argv[1:])))
    sys.exit(SKIP if statuses == {SKIP} else bool(statuses - {0, SKIP}))


def main():
    """unittest's main, but a run in which every test was skipped exits 77 and says why."""
    result = unittest.main(module="__main__", exit=False, verbosity=2).result
    for test, reason in result.skipped:
        print("skipped:", test, reason)
    if result.testsRun == len(result.skipped) and result.wasSuccessful():
        sys.exit(SKIP)
    sys.exit(not result.wasSuccessful())
