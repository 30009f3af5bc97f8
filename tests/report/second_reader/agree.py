# SPDX-License-Identifier: Apache-2.0
"""The second reader and stageprof-report agree on golden, recorded and damaged traces."""

import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import reader

ROOT = os.environ["SP_ROOT"]
REPORT = os.environ["STAGEPROF_TEST_REPORT"]
GOLDEN = os.path.join(ROOT, "tests", "report", "golden")
DAMAGED_TRACES = 200


def names():
    with open(os.path.join(ROOT, "trace", "events.def"), encoding="utf-8") as file:
        rows = re.findall(r"^SP_EVENT\((\d+), (\w+)", file.read(), re.M)
    return {int(number): name for number, name in rows}


NAMES = names()


def of_report(path):
    command = [REPORT, "dump", "--format=json", "--limit=all", path]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120)
    if not done.stdout:
        return None
    rows = json.loads(done.stdout)["events"]
    return collections.Counter((r["pid"], r["tid"], r["event"], r["value"]) for r in rows)


def of_second_reader(path):
    events = reader.Trace().read(path).events()
    return collections.Counter((e.pid, e.tid, NAMES.get(e.kind, e.kind), e.value) for e in events)


class Agree(unittest.TestCase):
    def check(self, path):
        report = of_report(path)
        mine = of_second_reader(path)
        self.assertIsNotNone(report, path)
        self.assertEqual(mine - report, collections.Counter(), f"{path}: only the second reader")
        self.assertEqual(report - mine, collections.Counter(), f"{path}: only the report")
        return sum(mine.values())

    def golden(self):
        for version in sorted(os.listdir(GOLDEN)):
            folder = os.path.join(GOLDEN, version)
            if os.path.isdir(folder):
                yield from (os.path.join(folder, n) for n in sorted(os.listdir(folder)) if n.endswith(".zst"))

    def test_golden(self):
        for path in self.golden():
            with self.subTest(path=path):
                self.assertGreater(self.check(path), 0)

    def test_recorded(self):
        """Files that are mapped, and files that are written."""
        for mode in ("map", "write"):
            with self.subTest(mode=mode), tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "tally"), "wb") as file:
                    file.truncate(8 << 20)
                run = os.path.join(folder, "run.zst")
                env = dict(os.environ, TALLY=file.name, STAGEPROF_OUTPUT=run, STAGEPROF_MODE=mode)
                env["LD_PRELOAD"] = os.environ["STAGEPROF_TEST_LIB"]
                victim = os.path.join(os.environ["STAGEPROF_TEST_VICTIMS"], "read_loop")
                subprocess.run(
                    [victim, "2", "20000"],
                    cwd=folder,
                    env=env,
                    check=True,
                    stdout=subprocess.DEVNULL,
                )
                self.assertGreater(self.check(run), 40000)

    def test_damaged(self):
        """One byte or a stretch of them is changed, or the end is cut off."""
        chance = random.Random(19)
        sources = sorted(
            os.path.join(folder, name)
            for folder, _, found in os.walk(GOLDEN)
            for name in found
            if name.endswith(".zst") and not name.startswith("0-run-")
        )
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "damaged.zst")
            for number in range(DAMAGED_TRACES):
                with open(chance.choice(sources), "rb") as file:
                    data = bytearray(file.read())
                if number % 4 == 0:
                    data = data[: chance.randrange(600, len(data))]
                else:
                    at = chance.randrange(len(data))
                    length = chance.choice((1, 1, 8, 200))
                    data[at : at + length] = chance.randbytes(len(data[at : at + length]))
                with open(path, "wb") as file:
                    file.write(data)
                with self.subTest(number=number):
                    if of_report(path) is not None:
                        self.check(path)


if __name__ == "__main__":
    unittest.main()
