# SPDX-License-Identifier: Apache-2.0
"""The analyzer's memory over large traces: bounded, with a line for names that found no room.

    memory.py some | all

"all", nightly: every view and every export, of some 100 MB of trace too.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import unittest

MAKE = os.environ["STAGEPROF_TEST_MAKE_NAMES"]
REPORT = os.environ["STAGEPROF_TEST_REPORT"]
LIMIT_MIB = 256
EXPORTS = ("perfetto", "chrome", "folded", "sqlite")
SOME = ("summary", "line", "files", "labels", "sync")
ALL = SOME + tuple(
    "card stages steps epochs workers whatif ranks ranges modules ops processes threads stacks "
    "kernels cuda dump info".split()
)


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def make(self, *arguments):
        run = os.path.join(self.folder.name, "-".join(arguments))
        if not os.path.exists(run):
            subprocess.run([MAKE, *arguments, run], check=True)
        return run

    def report(self, *arguments):
        """The output of a report that stays below the limit."""
        with open(os.path.join(self.folder.name, "out"), "w+b") as out:
            pid = os.fork()
            if not pid:
                os.dup2(out.fileno(), 1)
                os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
                try:
                    os.execv(REPORT, [REPORT, *arguments])
                finally:
                    os._exit(99)
            _, status, usage = os.wait4(pid, 0)
            out.seek(0)
            said = out.read(1 << 24)
        self.assertIn(os.waitstatus_to_exitcode(status), (0, 1), arguments)
        self.assertLess(usage.ru_maxrss / 1024, LIMIT_MIB, arguments)
        self.spent = usage.ru_utime
        return said

    def every(self, run, views, exports):
        for view in views:
            with self.subTest(view=view, run=os.path.basename(run)):
                self.report(view, "--format=json", run)
        target = os.path.join(self.folder.name, "exported")
        for name in exports:
            with self.subTest(export=name, run=os.path.basename(run)):
                self.report("export", name, run, "--force", "-o", target)

    def test_others_are_said(self):
        """20,000 names of 4,300 bytes: more than 64 MiB."""
        for kind in ("files", "labels"):
            view = "files" if kind == "files" else "labels"
            run = self.make(kind, "20000", "4300")
            answer = json.loads(self.report(view, "--format=json", "--limit=10", run))
            others = answer["run"]["names_in_others"]
            self.assertGreater(others, 1000)
            self.assertLess(others, 10000)
            self.assertEqual(answer["run"]["events_recorded"], 20000)

    def test_exports_of_many_labels(self):
        """Four times the labels take four times the work, not sixteen times."""
        few, many = (self.make("labels", count, "300") for count in ("10000", "40000"))
        target = os.path.join(self.folder.name, "exported")
        for name in ("chrome", "perfetto"):
            least = {}
            for run in (few, many, few, many):
                self.report("export", name, run, "--force", "-o", target)
                least[run] = min(self.spent, least.get(run, self.spent))
            self.assertLess(least[many], 10 * least[few] + 0.05, name)

    def test_long_names(self):
        """A trace of some MB, whose names are 378 MB."""
        self.every(self.make("files", "88000", "4300"), ("files",), ())

    def test_ids(self):
        """Processes whose files have the largest ids."""
        self.every(self.make("ids", "100", "32"), SOME, ())

    def test_slow_calls(self):
        self.every(self.make("slow", "8000", "4300"), ("stacks", "sync"), ())


class Everything(Limits):
    def test_every_view(self):
        for arguments in (
            ("files", "88000", "4300"),
            ("labels", "88000", "4300"),
            ("ids", "300", "32"),
            ("slow", "16000", "4300"),
            ("noise", "files", "28000", "4200"),
        ):
            self.every(self.make(*arguments), ALL, EXPORTS)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    which = {"some": Limits, "all": Everything}[sys.argv.pop()]
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(which)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
