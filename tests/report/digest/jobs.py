# SPDX-License-Identifier: Apache-2.0
"""Made jobs, a run for each node, and their digests."""

import json
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
REPORT = os.environ["STAGEPROF_TEST_REPORT"]
MAKE_JOB = os.environ["STAGEPROF_TEST_MAKE_JOB"]
RANKS_A_HOST = 8
VIEWS = ("ranks", "stages", "processes")  # a digest answers them
STRAGGLER = "rank,5,50,forward,2000000"


def report(*arguments, status=0):
    done = subprocess.run(
        [REPORT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}: {done.stderr}")
    return done.stdout, done.stderr


def made(folder, ranks, steps, *words):
    """A made job: a folder for each node, as nodes have a run each."""
    nodes = []
    for first in range(0, ranks, RANKS_A_HOST):
        node = os.path.join(folder, f"node-{first // RANKS_A_HOST}")
        os.makedirs(node)
        only = f"ranks={first}:{first + RANKS_A_HOST}"
        subprocess.run([MAKE_JOB, node, str(ranks), str(steps), only, *words], check=True)
        nodes.append(node)
    return nodes


def table(path, word):
    """The names in a table of the sources."""
    with open(os.path.join(ROOT, path)) as file:
        return re.findall(rf"^{word}\((\w+),", file.read(), re.M)


def digest(path, *inputs, status=0):
    _, said = report("digest", *inputs, "-o", path, status=status)
    return said


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def ranks_of(*inputs):
    return json.loads(report("ranks", "--format=json", *inputs)[0])


def stragglers(found):
    return [row["rank"] for row in found["ranks"] if row["straggler"] == "yes"]


class Job(unittest.TestCase):
    """A made job with a straggler in a folder of its own: `runs`, and `whole`, their digest."""

    RANKS, STEPS = 64, 200

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.runs = made(cls.folder.name, cls.RANKS, cls.STEPS, STRAGGLER)
        cls.whole = cls.path("whole.spd")
        digest(cls.whole, *cls.runs)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)
