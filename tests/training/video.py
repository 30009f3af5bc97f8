# SPDX-License-Identifier: Apache-2.0
"""Frames that PyAV, OpenCV and decord decode. torchcodec takes the system's FFmpeg, whose calls are
the same.

torchcodec itself cannot be had for the PyTorch of these tests: PyPI's wheels up to 0.10 have the
ABI of older ones, and those since need CUDA's libraries (libnvrtc, libtorch_cuda) to be loaded at
all.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import training
from ranges import Run

PYTHON = training.interpreter("av", "cv2", "decord")
PROGRAM = os.path.join(training.HERE, "video_program.py")


class Video(unittest.TestCase):
    def test_each(self):
        with tempfile.TemporaryDirectory() as folder:
            video = os.path.join(folder, "video.mp4")
            subprocess.run([PYTHON, PROGRAM, "make", video], stdout=subprocess.PIPE, check=True)
            for library, frames in (("av", 30), ("cv2", 30), ("decord", 5)):
                with self.subTest(library):
                    self.check(library, video, frames)

    def check(self, library, video, frames):
        with tempfile.TemporaryDirectory() as folder:
            done = training.execute([PYTHON, PROGRAM, library, video], folder)
            self.assertEqual((done.returncode, done.stdout), (0, b"%d\n" % frames), done.stderr)
            path = os.path.join(folder, "run.zst")
            command = [os.environ["STAGEPROF_TEST_REPORT"], "stages", "--format=json", path]
            stages = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)[
                "stages"
            ]
            run = Run(path)
        decoded = sum(stage["calls"] for stage in stages if stage["stage"] == "video_decode")
        if library == "decord":
            # decord decodes ahead, from the key frame before: more frames than it was asked for.
            self.assertGreaterEqual(decoded, frames)
            self.assertEqual(run.count("python_call", "decord frame", "decode_video"), 2)
            self.assertEqual(run.count("python_call", "decord get_batch", "decode_video"), 1)
        else:
            self.assertEqual(decoded, frames)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
