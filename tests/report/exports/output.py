# SPDX-License-Identifier: Apache-2.0
"""Properties of an export other than its file: memory that events do not grow, an end by a signal,
a bar.
"""

import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import runs

MAKE_TRACE = os.environ["STAGEPROF_TEST_MAKE_TRACE"]


class Output(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        for name, events in (("small", "20000"), ("large", "300000")):
            subprocess.run(
                [MAKE_TRACE, os.path.join(cls.folder.name, name), events, "4", "1000"], check=True
            )

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def peak_kb(self, exporter, run):
        """The peak memory of one child, because ru_maxrss is the greatest of all children."""
        code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
        code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        command = [
            runs.REPORT,
            "export",
            exporter,
            self.path(run),
            "--force",
            "-qo",
            self.path("out"),
        ]
        return int(
            subprocess.run(
                [sys.executable, "-c", code, *command], stdout=subprocess.PIPE, check=True
            ).stdout
        )

    def test_memory(self):
        for exporter in ("perfetto", "sqlite"):
            small, large = self.peak_kb(exporter, "small"), self.peak_kb(exporter, "large")
            self.assertLess(large, small + 8192, f"{exporter}: 15 times the events")

    def test_signal(self):
        export = subprocess.Popen(
            [runs.REPORT, "export", "chrome", self.path("large"), "-o", self.path("ended")]
        )
        while not any(name.startswith("ended.") for name in os.listdir(self.folder.name)):
            self.assertIsNone(export.poll(), "it ended before the signal")
            time.sleep(0.01)
        export.terminate()
        self.assertEqual(export.wait(), -signal.SIGTERM)
        self.assertEqual(
            [name for name in os.listdir(self.folder.name) if name.startswith("ended")], []
        )

    @unittest.skipUnless(shutil.which("strace"), "no strace")
    def test_signal_at_the_begin(self):
        """The signal comes with the system call that creates the file."""
        traced = 'exec strace -D -o "$0.log" -e trace=openat -P "$0.$$.part"'
        script = f'{traced} -e inject=openat:signal=SIGTERM "$@" -o "$0"'
        out = self.path("begun")
        command = ["sh", "-c", script, out, runs.REPORT, "export", "chrome", self.path("small")]
        self.assertEqual(subprocess.run(command).returncode, -signal.SIGTERM)
        with open(out + ".log") as log:
            self.assertIn(".part", log.read())
        os.unlink(out + ".log")
        left = [name for name in os.listdir(self.folder.name) if name.startswith("begun")]
        self.assertEqual(left, [])

    def on_terminal(self, *command):
        """The stderr of a successful command on a terminal."""
        mine, its = pty.openpty()
        done = subprocess.Popen(command, stderr=its)
        os.close(its)
        told = b""
        try:
            while more := os.read(mine, 4096):
                told += more
        except OSError:
            pass
        self.assertEqual(done.wait(), 0)
        os.close(mine)
        return told

    def test_bar_of_a_page(self):
        subprocess.run([MAKE_TRACE, self.path("long"), "12000000", "4", "1000"], check=True)
        command = [
            runs.REPORT,
            "html",
            self.path("long"),
            "-o",
            self.path("page.html"),
            "--force",
            "--jobs=1",
        ]
        told = self.on_terminal(*command)
        self.assertRegex(told, rb"#\.+ +\d+%")
        self.assertTrue(told.endswith(b"\r\033[K"), "it stays when all is done")
        self.assertEqual(self.on_terminal(*command, "--quiet"), b"")
        quiet = subprocess.run(command, stderr=subprocess.PIPE, check=True).stderr
        self.assertEqual(quiet, b"", "a bar without a terminal")
        self.assertLess(os.path.getsize(self.path("page.html")), 3 << 20)

    def test_bar(self):
        command = [runs.REPORT, "export", "sqlite", self.path("large"), "-o", self.path("bar")]
        told = self.on_terminal(*command)
        self.assertRegex(told, rb"#\.+ +\d+%")
        self.assertIn(b"wrote ", told)
        quiet = subprocess.run([*command, "--force"], stderr=subprocess.PIPE, check=True).stderr
        self.assertNotIn(b"%", quiet, "a bar without a terminal")


unittest.main()
