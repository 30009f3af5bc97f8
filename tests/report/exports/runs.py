# SPDX-License-Identifier: Apache-2.0
"""The runs of make_runs.py, what the report says of them, and what is exported of them."""

import collections
import json
import os
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
REPORT = os.environ["STAGEPROF_TEST_REPORT"]
RUNS = os.environ["STAGEPROF_TEST_RUNS"]
GOLDEN = os.path.join(ROOT, "tests", "report", "golden", "v2", "run.zst")
GOLDEN_GPU = os.path.join(ROOT, "tests", "report", "golden", "v2", "gpu.zst")
NAMES = ("real", "killed", "hostile", "golden")

# Bytes that the texts of make_hostile.c must not become, in any format that shows text.
FORBIDDEN = {
    "ESC": b"\x1b",
    "BEL": b"\x07",
    "bidi": "\u202e".encode(),
    "zero width": "\u200b".encode(),
    "invalid UTF-8": b"\xff",
}


def run(name):
    kept = {"golden": GOLDEN, "golden_gpu": GOLDEN_GPU}
    path = kept.get(name) or os.path.join(RUNS, name + ".zst")
    if not os.path.exists(path):
        raise unittest.SkipTest(f"{name}: no run")
    return path


def report(*arguments, status=0):
    done = subprocess.run(
        [REPORT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100
    )
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def view(name, what, *options):
    return json.loads(report(what, "--format=json", *options, run(name)))


def export(name, what, *options):
    """The bytes of the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out")
        report("export", what, run(name), "-o", path, *options)
        assert os.listdir(folder) == ["out"], os.listdir(folder)
        with open(path, "rb") as file:
            return file.read()


Sum = collections.namedtuple("Sum", "calls total_ns")


def stages(name):
    """By stage, as the report adds up."""
    return {s["stage"]: Sum(s["calls"], s["total_ns"]) for s in view(name, "stages")["stages"]}
