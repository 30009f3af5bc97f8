"""One event an image, in libjpeg's every use, with as many copies of libjpeg as there are."""

import os
import subprocess
import sys

import harness
from harness import victim


class Native(harness.Case):
    def check(self, *argv):
        outcome = self.both(*argv)
        self.assert_exact(outcome)
        stage = outcome.trace.stages()[0]["jpeg_decode"]
        rows = outcome.rows()
        self.assertEqual(stage["aborted"], sum(row.calls for row in rows if row.path == "aborted"))
        self.assertEqual(
            stage["lines"], sum(row.bytes for row in rows if row.stage == "jpeg_decode")
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
    """The interpreter that the tests were given, else any on the path that has Pillow."""
    for python in (os.environ.get("STAGEPROF_TEST_PYTHON"), sys.executable, "python3"):
        if (
            python
            and subprocess.run([python, "-c", "import PIL"], stderr=subprocess.DEVNULL).returncode
            == 0
        ):
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
