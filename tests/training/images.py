# SPDX-License-Identifier: Apache-2.0
"""OpenCV's decoders take any kind of image, in libraries that its wheels hide: PNG is distinguished
from the rest."""

import os
import sys
import unittest

import training

PYTHON = training.interpreter("cv2")
PROGRAM = os.path.join(training.HERE, "images_program.py")


class Images(unittest.TestCase):
    def test_kinds(self):
        run, _ = training.record([PYTHON, PROGRAM])
        for label, pngs, others in (("cv2.imdecode", 3, 4 + 2), ("cv2.imread", 5, 6 + 2)):
            self.assertEqual(run.count("python_call", label, "decode_png"), pngs)
            self.assertEqual(run.count("python_call", label, "decode_image"), others)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
