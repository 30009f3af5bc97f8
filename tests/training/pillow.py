# SPDX-License-Identifier: Apache-2.0
"""Pillow decodes an image once, however often load() is called, and all views have the same PNG."""

import os
import unittest

import training
from ranges import Run

PYTHON = training.interpreter("PIL")
PROGRAM = os.path.join(training.HERE, "pillow_program.py")


class Pillow(unittest.TestCase):
    def test_an_image_counts_once(self):
        with training.tempfile.TemporaryDirectory() as folder:
            done = training.execute([PYTHON, PROGRAM], folder)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            path = os.path.join(folder, "run.zst")
            run = Run(path)
            summary = training.report("summary", path)
        self.assertEqual(run.count("python_call", "PIL.Image.load PNG", "decode_png"), 3)
        self.assertEqual(run.count("python_call", "PIL.Image.load", "decode_image"), 4)
        self.assertNotIn("png_decode", summary["never_called"])


if __name__ == "__main__":
    unittest.main()
