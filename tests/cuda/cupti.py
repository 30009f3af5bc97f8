# SPDX-License-Identifier: Apache-2.0
"""CUPTI's records of the fake device against the device's own log: each piece of work, its time,
its
stream, its call. Unreported work is counted. Without CUPTI the run has one reason, and nothing else
changes.
"""

import collections
import json
import os
import subprocess
import tempfile
import time
import unittest

Work = collections.namedtuple("Work", "name begin end stream correlation bytes delivered")


def path_of(name):
    value = os.environ[name]
    if not os.path.exists(value):
        raise RuntimeError(f"{name} names nothing: {value}")
    return value


class Run:
    """cupti_work with a trace, and what the device did."""

    def __init__(
        self, folder, *arguments, cupti="cupti13", program="cupti_work", libraries="", **environment
    ):
        self.trace = os.path.join(folder, "run.zst")
        self.log = os.path.join(folder, "log")
        fake = path_of("STAGEPROF_TEST_FAKE")
        self.environment = {
            "LD_LIBRARY_PATH": ":".join(
                [fake, f"{fake}/13", f"{fake}/12", f"{fake}/{cupti}", libraries]
            ),
            "FAKE_CUPTI_LOG": self.log,
        }
        self.environment.update(environment)
        self.command = [
            os.path.join(path_of("STAGEPROF_TEST_VICTIMS"), program),
            *arguments,
        ]  # or an absolute path
        self.plain = self.start({})
        if os.path.exists(self.log):
            os.remove(self.log)
        traced = {
            "LD_PRELOAD": path_of("STAGEPROF_TEST_LIB"),
            "STAGEPROF_OUTPUT": self.trace,
            "STAGEPROF_CUPTI": "1",
        }
        self.traced = self.start(traced)

    def start(self, more):
        return subprocess.run(
            self.command,
            env={**self.environment, **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=100,
        )

    def report(self, view, *options):
        command = [path_of("STAGEPROF_TEST_REPORT"), view, "--format=json", *options, self.trace]
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)

    def works(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log) as file:
            rows = [line.split() for line in file]
        return [Work(row[0], *map(int, row[1:])) for row in rows]

    def events(self):
        """The records of CUPTI, without the spans between events on the streams."""
        told = self.report("dump")["events"]
        return [e for e in told if e["stage"].startswith("gpu_") and e["event"] != "gpu_span"]

    def coverage(self):
        lines = [c["text"].split("\t") for c in self.report("summary")["coverage"]]
        return [line[1:] for line in lines if line[0] == "cupti"]


def known_as(event):
    """As the device's log names it."""
    return {"gpu_kernel": event.get("label"), "gpu_copy": "copy", "gpu_memset": "set"}[
        event["event"]
    ]


def realtime_offset_ns():
    """Realtime less monotonic time, by the closest of many readings: another program may have the
    core between two."""
    gaps = []
    for _ in range(100):
        before = time.monotonic_ns()
        real = time.time_ns()
        after = time.monotonic_ns()
        gaps.append((after - before, real - (before + after) // 2))
    return min(gaps)[1]


class Cupti(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory(prefix="stageprof-cupti-")
        self.addCleanup(self.holder.cleanup)

    def run_it(self, *arguments, **options):
        run = Run(self.holder.name, *arguments, **options)
        if "kill" not in arguments:
            self.assertEqual(run.plain.returncode, 0, run.plain.stderr)
        self.assertEqual(
            (run.traced.returncode, run.traced.stdout, run.traced.stderr),
            (run.plain.returncode, run.plain.stdout, run.plain.stderr),
        )
        return run

    def assert_works(self, events, works):
        """One to one: a name's works in the order in which they began."""
        events = [e for e in events if e["event"] != "gpu_lost"]
        self.assertEqual(len(events), len(works))
        offset = realtime_offset_ns()
        seen, done = collections.defaultdict(list), collections.defaultdict(list)
        for event in events:
            seen[known_as(event)].append(event)
        for work in works:
            done[work.name].append(work)
        self.assertEqual({k: len(v) for k, v in seen.items()}, {k: len(v) for k, v in done.items()})
        for name, row in done.items():
            row.sort(key=lambda w: w.begin)
            seen[name].sort(key=lambda e: e["start_ns"])
            for event, work in zip(seen[name], row):
                # The device's clock runs 20 ppm fast, and the trace keeps 10 ns.
                self.assertAlmostEqual(
                    event["dur_ns"], work.end - work.begin, delta=100 + work.end / 1e9
                )
                self.assertAlmostEqual(
                    self.begin_ns + event["start_ns"], work.begin + offset, delta=200000
                )

    def check(self, run):
        self.begin_ns = run.report("summary")["run"]["begin_realtime_ns"]
        works = [w for w in run.works() if w.delivered]
        self.assertGreater(len(works), 10)
        self.assert_works(run.events(), works)
        return works

    def test_each_piece_of_work(self):
        run = self.run_it("5")
        works = self.check(run)
        self.assertTrue(all(w.delivered for w in run.works()))
        self.assertEqual(len(works), 5 * 7)
        [(state, detail)] = run.coverage()
        self.assertEqual(state, "bound")
        self.assertRegex(detail, r"^libcupti\.so\.13, its clock and ours within \d+ ns$")

    def test_kernels_and_the_time_the_gpu_was_busy(self):
        run = self.run_it("30")
        works, told = run.works(), run.report("kernels")
        rows = {row["symbol"] or row["name"]: row for row in told["kernels"]}
        self.assertEqual(
            rows["_ZN2at6native3addIfEEvPT_i"]["name"], "void at::native::add<float>(float*, int)"
        )
        self.assertEqual(
            set(rows),
            {
                "_Z5scalePfif",
                "_ZN2at6native3addIfEEvPT_i",
                "GPU copy H2D",
                "GPU copy D2H",
                "GPU memset",
            },
        )
        of = collections.defaultdict(list)
        for work in works:
            of[work.name].append(work.end - work.begin)
        for name in "_Z5scalePfif", "_ZN2at6native3addIfEEvPT_i":
            self.assertEqual(rows[name]["calls"], len(of[name]))
            # 20 ppm, and 10 ns an end.
            self.assertAlmostEqual(
                rows[name]["total_ns"],
                sum(of[name]),
                delta=20 * len(of[name]) + sum(of[name]) / 2e4,
            )
            self.assertAlmostEqual(
                rows[name]["max_ns"], max(of[name]), delta=100 + max(of[name]) / 2e4
            )
            self.assertIsNone(rows[name]["forward_ns"], "nobody trains")
        self.assertEqual(rows["GPU copy H2D"]["bytes"], 30 * 65536)
        busy, until = 0, 0
        for work in sorted(works, key=lambda w: w.begin):
            busy += max(0, work.end - max(work.begin, until))
            until = max(until, work.end)
        [device] = told["devices"]
        self.assertAlmostEqual(device["busy_ns"], busy, delta=20 * len(works) + busy / 2e4)
        self.assertLess(busy, sum(map(sum, of.values())), "two streams work at once")
        self.assertEqual(run.report("summary")["gpu"]["busy_ns"], device["busy_ns"])

    def test_every_form_of_call(self):
        self.check(self.run_it("2", "10", program="cuda_calls13"))

    def test_cuda_12_and_its_records(self):
        self.check(
            self.run_it("1", "5", program="cuda_calls12", cupti="cupti12", FAKE_CUPTI_VERSION="18")
        )

    def test_dropped_records_are_counted(self):
        run = self.run_it("20", FAKE_CUPTI_DROP="7")
        self.check(run)
        lost = sum(e["value"] for e in run.events() if e["event"] == "gpu_lost")
        self.assertEqual(lost, sum(not w.delivered for w in run.works()))
        self.assertGreater(lost, 10)

    def test_more_than_a_buffer(self):
        self.check(self.run_it("400", "link"))

    def test_gives_way(self):
        run = self.run_it("5", "subscribe")
        works = run.works()
        self.begin_ns = run.report("summary")["run"]["begin_realtime_ns"]
        self.assert_works(run.events(), works[: 5 * 7])
        self.assertEqual(
            [state for state, _ in run.coverage()],
            ["bound", "unobservable"],
        )
        self.assertIn("cuptiSubscribe", run.coverage()[1][1])

    def test_killed(self):
        run = self.run_it("400", "kill")
        self.assertLess(run.traced.returncode, 0)
        told, done = len(run.events()), len(run.works())
        self.assertGreater(told, 0)
        self.assertLess(done - told, 700)  # what CUPTI had not given back

    def test_forked_children(self):
        run = self.run_it("5", "fork")
        works = run.works()
        self.assertEqual(len(works), 2 * 5 * 7)
        self.assertEqual(len(run.events()), len(works))
        self.assertEqual(len({e["pid"] for e in run.events()}), 2)

    def refused(self, reason, arguments=("3",), **options):
        run = self.run_it(*arguments, **options)
        self.assertEqual(run.events(), [])
        self.assertEqual(run.coverage(), [list(reason)])

    def test_no_library(self):
        self.refused(
            ("absent", "no libcupti of this CUDA version was found (LD_LIBRARY_PATH)"),
            arguments=("1", "3"),
            program="cuda_calls12",
            cupti="nowhere",
        )

    def test_the_real_library_without_a_device(self):
        """NVIDIA's own, where it is installed, with a driver that knows too little of it."""
        real = os.environ.get("STAGEPROF_TEST_CUPTI")
        if not real:
            self.skipTest("no libcupti.so.13 of NVIDIA's")
        run = self.run_it("3", cupti="nowhere", libraries=real)
        [(state, detail)] = run.coverage()
        self.assertEqual(state, "failed")
        self.assertRegex(detail, r"^cupti\w+: CUPTI error \d+$")
        self.assertEqual(run.events(), [])

    def test_a_missing_function(self):
        self.refused(
            ("failed", "cuptiActivityFlushAll: the library has no such function"), cupti="cupti_old"
        )

    def test_records_of_an_unknown_version(self):
        for version in "12", "140000":
            with self.subTest(version):
                self.holder.cleanup()
                os.makedirs(self.holder.name)
                self.refused(
                    ("unobservable", "records of an unknown version of CUPTI: " + version),
                    FAKE_CUPTI_VERSION=version,
                )

    def test_another_tool_was_first(self):
        self.refused(
            ("unobservable", "cuptiSubscribe: another tool uses CUPTI in this process"),
            FAKE_CUPTI_BUSY="1",
        )

    def test_no_device(self):
        run = Run(self.holder.name, "3", FAKE_CUDA_DEVICES="0")
        self.assertNotEqual(run.plain.returncode, 0)
        self.assertEqual(run.traced.returncode, run.plain.returncode)
        self.assertEqual(run.traced.stderr, run.plain.stderr)


if __name__ == "__main__":
    unittest.main()
