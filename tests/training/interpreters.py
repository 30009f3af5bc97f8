# SPDX-License-Identifier: Apache-2.0
"""The bootstrap in every Python from 3.8 that is here; counts, disguise, silence.

$STAGEPROF_TEST_PYTHONS: more interpreters, separated by colons.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import training

PROGRAM = os.path.join(training.HERE, "disguise_program.py")
SETTINGS = {"STAGEPROF_FUNCTIONS": "colorsys:rgb_to_hsv,string:Template.substitute"}
CALLS = {"rgb_to_hsv": 10 + 1 + 1 + 1, "Template.substitute": 7}


def candidates():
    yield from filter(None, os.environ.get("STAGEPROF_TEST_PYTHONS", "").split(":"))
    yield from (f"/usr/bin/python3.{minor}" for minor in range(8, 16))
    yield from (shutil.which(f"python3.{minor}") for minor in range(8, 16))
    if shutil.which("pyenv"):
        root = subprocess.run(["pyenv", "root"], stdout=subprocess.PIPE).stdout.decode().strip()
        yield from sorted(glob.glob(os.path.join(glob.escape(root), "versions/3.*/bin/python3")))
    yield sys.executable


def interpreters():
    """Version to an interpreter of it."""
    found = {}
    for path in candidates():
        if not path or not os.access(path, os.X_OK):
            continue
        said = subprocess.run([path, "--version"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        version = re.match(rb"Python (3\.(\d+)\.\S+)", said.stdout)
        if said.returncode == 0 and version and int(version[2]) >= 8:
            found.setdefault(version[1].decode(), path)
    return found


class Interpreters(unittest.TestCase):
    def check(self, version, command):
        run, done = training.record(command, **SETTINGS)
        self.assertEqual((done.stdout, done.stderr), (b"same\n", b""))
        for name, calls in CALLS.items():
            self.assertEqual(run.count("python_call", name, "function"), calls, name)
        self.assertIn(("python", "bound", version), [line[1:] for line in run.coverage])

    def test_each(self):
        for version, path in interpreters().items():
            for options in ([], ["-I", "-S"], ["-X", "dev", "-W", "error"]):
                with self.subTest(version=version, path=path, options=options):
                    self.check(version, [path, *options, PROGRAM])

    def test_old(self):
        path = shutil.which("python3.7") or shutil.which("python2")
        if not path:
            self.skipTest("no Python older than 3.8")
        with tempfile.TemporaryDirectory() as folder:
            done = training.execute([path, "-c", "import colorsys; print(1)"], folder)
            if done.returncode == 127:
                self.skipTest("no Python older than 3.8")
            self.assertEqual((done.stdout, done.stderr), (b"1\n", b""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
