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


RANDOM_TRACES = 60
COUNT_OF_FILE = (1 << 28) - 1
MASK_32 = (1 << 32) - 1
ABANDONED = -(1 << 63)
Kind = collections.namedtuple("Kind", "name group value arg")
Row = collections.namedtuple(
    "Row", "pid tid event value file label communicator width height start dur inside"
)
NS_OFF = 1  # the report rounds to whole ns, and its rate to 2^-48 ns a tick


def kinds():
    with open(os.path.join(ROOT, "trace", "events.def"), encoding="utf-8") as file:
        rows = re.findall(r"^SP_EVENT\((\d+), (\w+), (\w+), (\w+), (\w+), \d\)", file.read(), re.M)
    return {int(row[0]): Kind(*row[1:]) for row in rows}


KINDS = kinds()


def text_of(name):
    """As JSON has it; how many marks stand for a bad sequence is a matter of taste."""
    if isinstance(name, bytes):
        name = name.decode("utf-8", "replace")
    return name and re.sub("\ufffd+", "\ufffd", name)


def label_of(name):
    if name is None:
        return None
    if re.fullmatch(rb"ProfilerStep#[0-9]*", name):
        return "ProfilerStep#"
    if b"\t" in name:
        name = name.lstrip(b"\t")[:1024].replace(b"\t", b" ")
    return text_of(name)


def of_report(path):
    command = [REPORT, "dump", "--format=json", "--limit=all", path]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120)
    if not done.stdout:
        return None
    return [
        Row(
            r["pid"], r["tid"], r["event"], r["value"], text_of(r["file"]), text_of(r["label"]),
            r["communicator"], r["width"], r["height"], r["start_ns"], r["dur_ns"], r["inside_ns"],
        )
        for r in json.loads(done.stdout)["events"]
    ]  # fmt: skip


class Clock:
    def __init__(self, host, run_begin):
        rate = host.rate()
        self.up, self.down = rate.numerator, rate.denominator
        self.first = host.begin()
        self.ahead = self.first.realtime - run_begin

    def span(self, ticks):
        """A duration below 0 is one of two processors' counters."""
        if ticks >> 63:
            return 0
        return min((2 * ticks * self.up + self.down) // (2 * self.down), 1 << 56)

    def at(self, ticks):
        if ticks >= self.first.ticks:
            return self.ahead + self.span(ticks - self.first.ticks)
        return self.ahead - self.span(self.first.ticks - ticks)


class Rows:
    """A trace as the second reader sees it, in the words of the report."""

    def __init__(self, path):
        self.trace = reader.Trace().read(path)
        hosts = {n: h for n, h in self.trace.hosts().items() if h.points}
        begin = min((h.begin().realtime for h in hosts.values()), default=0)
        self.clocks = {name: Clock(host, begin) for name, host in hosts.items()}
        files = self.trace.definitions(0)
        self.files = {(image, i & COUNT_OF_FILE): found for (image, i), found in files.items()}
        self.labels = self.trace.definitions(1)

    def row(self, event):
        stream, image = event.stream, self.trace.image_of(event.stream)
        clock = self.clocks[stream.host[:31]]
        kind = KINDS.get(event.kind) or Kind(f"kind-{event.kind}", "", "", "")
        file = label = width = height = inside = communicator = None
        if kind.arg == "FILE":
            file = self.files.get((image, event.arg & COUNT_OF_FILE))
            file = text_of(file[40:]) if file is not None else None
        elif kind.arg == "NAME":
            label = label_of(self.labels.get((image, event.arg)))
        elif kind.group == "NCCL" and kind.arg == "ADDRESS":
            communicator = event.arg or None
        if kind.value == "LINES" and event.extra:
            inside = clock.span(event.extra[0])
            width, height = event.extra[1] >> 32, event.extra[1] & MASK_32
        value = None if event.value == ABANDONED else event.value
        return Row(
            stream.pid, stream.tid, kind.name, value, file, label, communicator, width, height,
            clock.at(event.start), clock.span(event.ticks), inside,
        )  # fmt: skip

    def by_stream(self):
        """A list of rows a stream, in the order of slots."""
        found = collections.defaultdict(list)
        for event in self.trace.events():
            found[id(event.stream)].append(self.row(event))
        return list(found.values())


def is_near(mine, report):
    times = zip(mine[-3:], report[-3:])
    return mine[:-3] == report[:-3] and all(
        a == b or (a is not None and b is not None and abs(a - b) <= NS_OFF) for a, b in times
    )


class Agree(unittest.TestCase):
    def check(self, path, is_in_order=False):
        report = of_report(path)
        self.assertIsNotNone(report, path)
        streams = Rows(path).by_stream()
        threads = collections.Counter((rows[0].pid, rows[0].tid) for rows in streams)
        for thread, count in threads.items():
            mine = [row for rows in streams for row in rows if row[:2] == thread]
            theirs = [row for row in report if row[:2] == thread]
            if count > 1:  # the report says only of which thread a row is
                mine, theirs = sorted(mine, key=repr), sorted(theirs, key=repr)
            self.compare(path, mine, theirs)
        others = [row for row in report if row[:2] not in threads]
        self.assertEqual(others, [], f"{path}: only the report")
        if is_in_order:
            self.check_order(report, streams)
        return len(report)

    def compare(self, path, mine, theirs):
        for number, (a, b) in enumerate(zip(mine, theirs)):
            if not is_near(a, b):
                self.fail(f"{path}: row {number} of its thread\nsecond reader {a}\nreport        {b}")
        self.assertEqual(len(mine), len(theirs), path)

    def check_order(self, report, streams):
        """The row that ends first comes first of the threads' next rows."""
        left = {(rows[0].pid, rows[0].tid): collections.deque(rows) for rows in streams}
        for row in report:
            left[row[:2]].popleft()
            ends = [rows[0].start + rows[0].dur for rows in left.values() if rows]
            self.assertLessEqual(row.start + row.dur, min(ends, default=1 << 63) + 2 * NS_OFF)

    def golden(self):
        for version in sorted(os.listdir(GOLDEN)):
            folder = os.path.join(GOLDEN, version)
            if os.path.isdir(folder):
                yield from (os.path.join(folder, n) for n in sorted(os.listdir(folder)) if n.endswith(".zst"))

    def test_golden(self):
        for path in self.golden():
            with self.subTest(path=path):
                self.assertGreater(self.check(path), 0)

    def test_random(self):
        """Drawn kinds, args, durations, definitions, blocks and windows; the same each time."""
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(RANDOM_TRACES):
                path = os.path.join(folder, f"{seed}.zst")
                maker = os.environ["STAGEPROF_TEST_RANDOM_TRACE"]
                subprocess.run([maker, str(seed), path], check=True)
                with self.subTest(seed=seed):
                    self.assertGreater(self.check(path, is_in_order=True), 0)

    def test_differences_are_seen(self):
        """A row that differs in one field by more than the rounding is none that agrees."""
        path = next(self.golden())
        rows = Rows(path).by_stream()[0]
        for field in Row._fields:
            other = rows[0]._replace(**{field: 77})
            if field in ("start", "dur"):
                other = rows[0]._replace(**{field: getattr(rows[0], field) + NS_OFF + 1})
            self.assertFalse(is_near(rows[0], other), field)
            self.assertTrue(is_near(rows[0], rows[0]), field)

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
