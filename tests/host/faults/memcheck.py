# SPDX-License-Identifier: Apache-2.0
"""Victims of every kind under valgrind's memcheck: the recorder reads nothing that was not written,
and writes nothing that is not its own."""

import shutil

import harness
from harness import victim

# memcheck has nothing to say against Debian's interpreter by itself
PYTHON = "/usr/bin/python3"
VALGRIND = ["valgrind", "-q", "--error-exitcode=99", "--trace-children=yes", "--leak-check=no"]
VICTIMS = (
    ("aliases",),
    ("fd_family",),
    ("fork_workers", "3", "200"),
    ("fork_ways",),
    ("jpeg_images",),
    ("kinds",),
    ("longjmp_read",),
    ("read_loop", "3", "5000"),
    ("signal_reader", "5000"),
    ("thread_ends",),
    ("transfers",),
)
CODE = """
import json, os, threading
def read():
    for _ in range(200):
        with open("/etc/passwd", "rb", 0) as file:
            file.read(100)
thread = threading.Thread(target=read)
thread.start()
if os.fork() == 0:
    read()
    os._exit(0)
os.wait()
thread.join()
print("done")
"""


class Memcheck(harness.Case):
    def setUp(self):
        super().setUp()
        if not shutil.which("valgrind"):
            self.skipTest("no valgrind")

    def test_victims(self):
        for name, *arguments in VICTIMS:
            with self.subTest(victim=name):
                outcome = self.both(*VALGRIND, victim(name), *arguments, name=name)
                self.assertNotEqual(outcome.done.returncode, 99)
                self.assert_valid(outcome.trace)
                _, run = outcome.trace.stages()
                self.assertEqual(run["events_lost"], 0)
                # by file, for valgrind's own reading of the program is recorded, too
                self.assert_paths(outcome.rows(), outcome.trace)

    def test_python(self):
        """An interpreter, its bootstrap of ours and its child."""
        outcome = self.both(
            *VALGRIND, PYTHON, "-S", "-c", CODE, env={"PYTHONMALLOC": "malloc"}, timeout=200
        )
        self.assertEqual((outcome.done.returncode, outcome.done.stdout), (0, b"done\n"))
        calls, _ = harness.reads_by_name(outcome.trace)["passwd"]
        self.assertEqual(calls, 400)


if __name__ == "__main__":
    harness.main()
