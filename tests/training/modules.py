# SPDX-License-Identifier: Apache-2.0
"""Names and calls of modules that activation checkpointing calls again, and of parts of a model
that the loop calls by themselves."""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest

import training

PROGRAM = [training.interpreter(), os.path.join(training.HERE, "modules_program.py")]


class Modules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            done = training.execute(PROGRAM, folder, STAGEPROF_MODULES="3")
            assert done.returncode == 0, done.stderr
            run = os.path.join(folder, "run.zst")
            cls.rows = training.report("modules", run)["modules"]
            cls.views = {
                name: json.dumps(training.report(name, run)) for name in ("ranges", "labels")
            }
            for name in ("folded", "chrome"):
                path = os.path.join(folder, name)
                program = [os.environ["STAGEPROF_TEST_REPORT"], "export", name, run, "-o", path]
                subprocess.run(program, check=True, capture_output=True)
                with open(path, "rb") as file:
                    text = file.read()
                text = gzip.decompress(text) if text[:2] == b"\x1f\x8b" else text
                cls.views[name] = text.decode()
        cls.steps = int(done.stdout)

    def calls(self, **wanted):
        return [
            row["calls"]
            for row in self.rows
            if all(row[key] == value for key, value in wanted.items())
        ]

    def test_checkpointing(self):
        """Two models: each block is called once a step in forward, and again in backward."""
        for block in ("blocks.0", "blocks.1"):
            for again, depth in (("", 1), ("yes", 0)):
                with self.subTest(block, again=again):
                    rows = {"in_backward": again, "depth": depth}
                    calls = self.calls(path=block, **rows)
                    # Backward shows both models' blocks in one row, as they have one name.
                    self.assertEqual(sum(calls), 2 * self.steps)
                    for inner in (".norm", ".mix"):
                        rows["depth"] = depth + 1
                        self.assertEqual(
                            sum(self.calls(path=block + inner, **rows)), 2 * self.steps
                        )

    def test_roots(self):
        """No other row has the name of a model, and none has lost its name."""
        roots = {row["class"] for row in self.rows if row["path"] == ""}
        self.assertEqual(roots, {"Checkpointed", "Reentrant", "MSELoss", "Two"})
        self.assertEqual(self.calls(path="?"), [])

    def test_parts(self):
        """forward() by name calls no module's __call__: its parts are the outermost ones."""
        for path in ("encoder", "decoder"):
            self.assertEqual(self.calls(path=path, depth=0, in_backward=""), [self.steps])
        self.assertEqual(self.calls(path="encoder.0", depth=1), [self.steps])

    def test_outputs(self):
        """Shapes of what a forward returned, also inside of a tuple and a dict."""
        shapes = {
            (row["path"], row["class"]): (row["input_shapes"], row["output_shapes"])
            for row in self.rows
        }
        self.assertEqual(shapes["", "Two"], ("[4, 16]", "[4, 1] [4, 2]"))
        self.assertEqual(shapes["later", "Linear"], ("[4, 16]", "[4, 2]"))
        self.assertEqual(shapes["", "MSELoss"], ("[4, 1] [4, 1]", "[]"))

    def test_order(self):
        """Rows are numbered as the program makes the first calls."""
        orders = sorted(row["order"] for row in self.rows)
        self.assertEqual(orders, list(range(1, len(self.rows) + 1)))
        first = {}
        for row in sorted(self.rows, key=lambda row: -row["order"]):
            first[row["path"], row["class"]] = row["order"]
        names = "inlet|blocks.0|blocks.0.norm|blocks.0.mix|blocks.1|encoder|decoder|sooner|later"
        found = [
            min(order for (path, _), order in first.items() if path == name)
            for name in names.split("|")
        ]
        self.assertEqual(found, sorted(found))

    def test_names_elsewhere(self):
        """Other views and exports show a module's path and class as words, without escapes."""
        for name, text in self.views.items():
            with self.subTest(name):
                self.assertIn("encoder.0 Linear", text)
                self.assertNotIn("x09", text)
                self.assertNotIn("\\t", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
