# SPDX-License-Identifier: Apache-2.0
"""One event an image, in libjpeg's every use, with as many copies of libjpeg as there are."""

import os
import platform
import shutil
import subprocess
import sys

import harness
from harness import victim


class Native(harness.Case):
    def check(self, *argv):
        outcome = self.both(*argv)
        strict = harness.STRICT
        if platform.machine() == "aarch64":  # libjpeg asks /proc/cpuinfo for NEON, once
            strict = [stage for stage in strict if not stage.startswith("file_")]
        self.assert_exact(outcome, strict)
        stages, run = outcome.trace.stages()
        rows = outcome.rows()
        self.assertEqual(
            stages["jpeg_decode"]["aborted"],
            sum(row.calls for row in rows if row.path == "aborted"),
        )
        self.assertEqual(
            run["jpeg_lines"], sum(row.bytes for row in rows if row.path == "finished")
        )

    def test_images(self):
        self.check(victim("jpeg_images"), "50")

    def test_copies_beside(self):
        self.check(victim("two_libjpegs"), os.path.dirname(victim("two_libjpegs")), "beside")

    def test_copies_in_turn(self):
        self.check(victim("two_libjpegs"), os.path.dirname(victim("two_libjpegs")), "in_turn")

    def test_copies_after_a_global_one(self):
        self.check(victim("two_libjpegs"), os.path.dirname(victim("two_libjpegs")), "after_global")


def python_with_pillow():
    """$PYTHON, the one that scripts/test makes, or what the user has."""
    made = os.path.join(harness.ROOT, "build", "venv", "bin", "python")
    for python in (os.environ.get("PYTHON"), made, sys.executable, shutil.which("python3")):
        if not python or not os.path.exists(python):
            continue
        probe = subprocess.run([python, "-c", "import PIL"], stderr=subprocess.DEVNULL)
        if probe.returncode == 0:
            return python
    return None


class Pillow(harness.Case):
    def test_images(self):
        python = python_with_pillow()
        if not python:
            self.skipTest("no Python with Pillow here")
        outcome = self.both(python, os.path.join(harness.SOURCES, "pillow_images.py"), "40")
        finished, aborted = (int(word) for word in outcome.done.stdout.split()[1:])
        self.assert_valid(outcome.trace)
        stages, run = outcome.trace.stages()
        self.assertEqual(stages["jpeg_decode"]["calls"], finished + aborted)
        self.assertEqual(stages["jpeg_decode"]["aborted"], aborted)
        self.assertEqual(run["events_lost"], 0)


if __name__ == "__main__":
    harness.main()
