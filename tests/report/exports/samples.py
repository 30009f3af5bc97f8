# SPDX-License-Identifier: Apache-2.0
"""Sampled functions for pprof, read by Protocol Buffers, against the view of functions: the same
own time by phase and function.
"""

import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest

import runs

SKIP = 77
BUSY = os.path.join(runs.ROOT, "tests", "programs", "victims", "busy_functions.py")
STAGEPROF = os.path.join(os.path.dirname(runs.REPORT), "stageprof")
NO_PYTHON = "(no Python)"


def innermost(names):
    """The index of the innermost frame that is no library, outermost first."""
    return max(i for i, name in enumerate(names) if not name.startswith("[") or i == 0)

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError as error:
    print("skipped:", error, "(scripts/requirements-test.txt)")
    sys.exit(SKIP)


def profile_class():
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(
            ["protoc", f"-I{runs.HERE}", f"-o{out.name}", os.path.join(runs.HERE, "profile.proto")],
            check=True,
        )
        files = descriptor_pb2.FileDescriptorSet.FromString(out.read())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(files.file[0])
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("stageprof.Profile"))


class Samples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.busy = os.path.join(cls.folder.name, "busy.zst")
        subprocess.run(
            [STAGEPROF, "run", "-q", "--sample=500", f"--output={cls.busy}"]
            + ["--", sys.executable, BUSY, "1"],
            stdout=subprocess.DEVNULL,
            check=True,
        )
        cls.Profile = profile_class()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def own(self, run):
        """Own time by phase and function, as the view has it; JSON has every row."""
        report = json.loads(runs.report("functions", "--format=json", "--limit=1000000", run))
        own = collections.Counter()
        for row in report["functions"]:
            own[row["phase"], row["function"], row["file"]] += row["own_ns"]
        return {key: ns for key, ns in own.items() if ns}

    def export(self, what, run):
        path = os.path.join(self.folder.name, "out")
        runs.report("export", what, run, "--force", "-qo", path)
        with open(path, "rb") as file:
            return file.read()

    def check_forbidden(self, text):
        for what, bad in runs.FORBIDDEN.items():
            self.assertNotIn(bad, text, what)

    def pprof(self, run):
        profile = self.Profile.FromString(gzip.decompress(self.export("pprof", run)))
        text = profile.string_table
        self.check_forbidden("\n".join(text).encode())
        self.assertEqual(text[0], "")
        self.assertEqual(
            [(text[kind.type], text[kind.unit]) for kind in profile.sample_type],
            [("samples", "count"), ("time", "nanoseconds")],
        )
        functions = {function.id: function for function in profile.function}
        leaves = {place.id: functions[place.line[0].function_id] for place in profile.location}
        own = collections.Counter()
        for sample in profile.sample:
            labels = {text[label.key]: text[label.str] for label in sample.label}
            self.assertIn(labels["thread"], ("runs", "waits"))
            outward = [leaves[number] for number in reversed(sample.location_id)]
            leaf = outward[innermost([text[function.name] for function in outward])]
            self.assertTrue(all(number in leaves for number in sample.location_id))
            own[labels["phase"], text[leaf.name], text[leaf.filename] or None] += sample.value[1]
        return {key: ns for key, ns in own.items() if ns}

    def test_pprof(self):
        true = self.own(self.busy)
        self.assertGreater(sum(true.values()), 5e8)
        self.assertTrue(any(name == "spin" for _, name, _ in true))
        self.assertEqual(self.pprof(self.busy), true)

    def test_hostile(self):
        """Names are escaped; a thread without Python is so, whatever library it executed."""
        run = runs.run("hostile")
        own, made = self.own(run), self.pprof(run)
        self.assertEqual(sum(made.values()), sum(own.values()))
        place = ("elsewhere", NO_PYTHON, None)
        self.assertEqual([own.get(place), made.get(place)], [10000, 10000])

    def test_no_samples(self):
        path = os.path.join(self.folder.name, "none")
        done = subprocess.run(
            [runs.REPORT, "export", "pprof", runs.GOLDEN, "-o", path],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"SP218", done.stdout)
        self.assertFalse(os.path.exists(path))


if __name__ == "__main__":
    unittest.main()
