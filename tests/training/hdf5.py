# SPDX-License-Identifier: Apache-2.0
"""HDF5 is the C library and h5py's Python code around it; advice names what costs."""

import os
import sys
import tempfile
import unittest

import training

PROGRAM = [training.interpreter("h5py"), os.path.join(training.HERE, "hdf5_program.py")]
SAMPLES, FIELDS = 400, 6


def seen(how):
    with tempfile.TemporaryDirectory() as folder:
        done = training.execute([*PROGRAM, how], folder)
        assert done.returncode == 0, done.stderr
        run = os.path.join(folder, "run.zst")
        return {view: training.report(view, run) for view in ("summary", "labels", "workers")}


class Hdf5(unittest.TestCase):
    def test_kept_open(self):
        views = seen("keep")
        calls = {row["label"]: row["calls"] for row in views["labels"]["labels"]}
        self.assertEqual(calls["h5py read"], SAMPLES * FIELDS)
        self.assertEqual(calls["h5py look-up"], SAMPLES * FIELDS)
        (row,) = views["workers"]["workers"]
        parts = {key: ns for key, ns in row.items() if key.endswith("_ns") and ns}
        self.assertGreater(parts["hdf5_ns"], parts["transform_ns"], parts)
        advice = [line["id"] for line in views["summary"]["advice"]]
        self.assertNotIn("transform", advice)
        # The files that the process opens at its start are in no batch.
        self.assertNotIn("fewer_opens", advice)
        # On a crowded machine most of a batch's time is a wait for a core, and not HDF5.
        is_crowded = parts.get("core_wait_ns", 0) > parts["hdf5_ns"] / 4
        if training.answers(views["summary"]) and not is_crowded:
            self.assertEqual(views["summary"]["verdict"]["rule"], "library", parts)

    def test_opened_for_each_sample(self):
        views = seen("open")
        advice = {line["id"]: line["text"] for line in views["summary"]["advice"]}
        self.assertIn("hdf5_handle", advice)
        self.assertNotIn("transform", advice)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
