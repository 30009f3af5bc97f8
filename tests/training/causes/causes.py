# SPDX-License-Identifier: Apache-2.0
"""Causes of waits that are planted (planted_cause.py), beside what the report says of them.

    causes.py [--nightly]

Rows of workers are within 5% and 50 µs a call of the program's own timers, and the time in which
it was ready to run: nobody but the kernel knows when a wait ended. So are the causes of all waits
of a training thread, and those that no hook sees are "not known". Where perf events are refused, a
row is right or the report abstains.
Environment: training.py's, and STAGEPROF_TEST_SECCOMP, a launcher that refuses perf events.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import training
from planted_cause import forget_pages

PYTHON = training.interpreter("numpy")
PROGRAM = os.path.join(HERE, "cause_program.py")
BYTES = 64 << 20
SHARE, CALL_NS = 0.05, 50000

# The row of the view workers that has a cause's time.
ROWS = {
    "sleep": "fetch_wait",
    "signal": "fetch_wait",
    "lock": "fetch_wait",
    "mutex": "fetch_wait",
    "queue": "fetch_wait",
    "pipe": "pipe_read",
    "local_socket": "pipe_read",
    "network": "net_read",
    "pages": "mapped_read",
}
# The cause of a row of `waits`. A queue waits for a lock of the interpreter.
CAUSES = {
    "pages": "page",
    "pages_in_order": "page",
    "sleep": "sleep",
    "signal": "unknown",
    "lock": "lock",
    "mutex": "unknown",
    "queue": "lock",
    "pipe": "pipe",
    "local_socket": "pipe",
    "network": "socket",
}
# Pages come first: faults are observed from the fetch on that first maps a file.
QUICK = ["pages", "pages_in_order", *(name for name in ROWS if name != "pages")]
CALLS = 4  # of a batch
SECCOMP = os.environ.get("STAGEPROF_TEST_SECCOMP")

Seen = collections.namedtuple("Seen", "truths rows summary stages files marks waits workers")


def data_file(folder):
    path = os.path.join(folder, "data.bin")
    with open(path, "wb") as file:
        file.write(os.urandom(BYTES))
    return path


def is_refused(coverage):
    return any("waits\tunobservable" in line["text"] for line in coverage)


def run(place, batches, *causes, warm=False, launcher=(), **settings):
    """The timers and the report of a run."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("STAGEPROF_TEST_DISK")) as folder:
        path = data_file(folder)
        if not warm:
            forget_pages(path)
        command = [*launcher, PYTHON, PROGRAM, place, str(batches), path, *causes]
        done = training.execute(command, folder, **settings)
        if done.returncode == training.SKIP:
            training.skip(done.stderr.decode().strip())
        if done.returncode != 0:
            raise AssertionError(done.stderr.decode())
        trace = os.path.join(folder, "run.zst")
        views = [training.report(view, trace) for view in ("workers", "summary", "files")]
        rows = collections.Counter()
        for worker in views[0]["workers"]:
            rows.update({name[:-3]: ns or 0 for name, ns in worker.items() if name.endswith("_ns")})
        stages = {stage["stage"]: stage for stage in views[1]["stages"]}
        marks, truths = map(json.loads, done.stdout.splitlines()[-2:])
        waits, workers = views[0]["waits"], views[0]["workers"]
        return Seen(truths, rows, views[1], stages, views[2], marks, waits, workers)


class Causes(unittest.TestCase):
    abstains = False

    def near(self, found, truth, calls, seen, what):
        ready_ns = sum(each["ready_ns"] for each in seen.truths.values())
        allowed_ns = SHARE * truth + CALL_NS * calls + ready_ns
        told = f"{what}: {found / 1e6:.2f} ms of {truth / 1e6:.2f} ± {allowed_ns / 1e6:.2f} ms"
        self.assertLessEqual(abs(found - truth), allowed_ns, told)

    def truths_of(self, seen, batches):
        """By row: time, calls."""
        sums = collections.Counter()
        calls = collections.Counter()
        for cause, truth in seen.truths.items():
            if cause in ROWS:
                sums[ROWS[cause]] += truth["slow_ns" if cause == "pages" else "off_ns"]
                calls[ROWS[cause]] += CALLS * batches // len(seen.truths)
        return sums, calls

    def check_rows(self, seen, batches, but=()):
        sums, calls = self.truths_of(seen, batches)
        for row, ns in sums.items():
            if row not in but:
                self.near(seen.rows[row], ns, calls[row], seen, row)

    def trainer_truths(self, seen, waits):
        """By cause, in the steps that the trainer's rows are of: time, calls."""
        until = min(seen.marks, key=lambda mark: abs(mark[0] - waits[0]["of_ns"]))
        sums, calls = collections.Counter(), collections.Counter()
        for name, cause in CAUSES.items():
            sums[cause] += until[1][name]["off_ns"] - seen.marks[0][1][name]["off_ns"]
            calls[cause] += CALLS * seen.marks.index(until) // len(seen.truths)
        return sums, calls

    def check_trainer(self, seen):
        """Each cause has its time, nothing counts twice, and the rest is not known. The core's row
        has the ends of waits."""
        waits = [row for row in seen.waits if row["role"] == "trainer"]
        rows = collections.Counter()
        for row in waits:
            rows[row["cause"]] += row["ns"]
        self.assertLessEqual(sum(rows.values()), waits[0]["of_ns"])
        sums, calls = self.trainer_truths(seen, waits)
        for cause, ns in sums.items():
            allowed_ns = SHARE * ns + CALL_NS * calls[cause] + rows["core"]
            told = f"{cause}: {rows[cause] / 1e6:.2f} of {ns / 1e6:.2f} ± {allowed_ns / 1e6:.2f} ms"
            # Without perf events a wait that may have been for a core is not known.
            over_ns = (rows[cause] - ns) * (-1 if cause == "unknown" else 1)
            self.assertLessEqual(over_ns, allowed_ns, told)
            self.assertTrue(self.abstains or -over_ns <= allowed_ns, told)

    def check_all(self, place):
        batches = 6 * len(QUICK)
        seen = run(place, batches, *QUICK)
        if is_refused(seen.summary["coverage"]):
            training.skip("perf events are refused here")
        if place != "worker":
            self.check_trainer(seen)
        if place != "loop":
            self.check_rows(seen, batches, but=["mapped_read"])
            self.check_file(seen)

    def check_file(self, seen):
        """The mapped reads of a file that is read in order are its blocked time, at most its slow
        touches."""
        random, in_order = seen.truths["pages"], seen.truths["pages_in_order"]
        rows = [row for row in seen.files["files"] if row["name"].endswith("/data.bin")]
        self.assertEqual(len(rows), 1, rows)
        least = random["slow_ns"] + in_order["off_ns"]
        most = random["slow_ns"] + in_order["slow_ns"]
        ns = rows[0]["mapped_read_ns"]
        ready_ns = random["ready_ns"] + in_order["ready_ns"]
        self.assertGreater(ns, (1 - SHARE) * least - ready_ns)
        self.assertLess(ns, (1 + SHARE) * most + CALLS * 6 * CALL_NS)
        # Each read of a page, those of the first batch, too.
        read_in = random["read_in"] + in_order["read_in"]
        self.assertGreater(read_in, random["touched"] // 2)
        self.assertGreaterEqual(rows[0]["mapped_reads"], read_in)
        self.assertLessEqual(rows[0]["mapped_reads"], random["slow"] + in_order["slow"] + 2)
        self.assertLessEqual(ns, seen.rows["mapped_read"] + 1000)  # rounding

    def test_a_worker(self):
        self.check_all("worker")

    def test_the_training_thread(self):
        self.check_all("trainer")

    def test_the_training_loop(self):
        self.check_all("loop")

    def check_page_and_wait(self, seen, batches):
        """The wait is not storage's, however the waits were observed. The truth contains the time
        off the core for a page, which is long on a slow disk."""
        truth, calls = seen.truths["page_and_wait"], CALLS * batches
        self.assertNotEqual(seen.summary["verdict"]["code"], "storage-bound", seen.summary)
        waits = seen.rows["fetch_wait"] + seen.rows["mapped_read"]
        self.near(waits, truth["off_ns"], calls, seen, "wait")
        self.assertLess(seen.rows["mapped_read"], truth["slow_ns"] * (1 + SHARE) + CALL_NS * calls)

    def test_a_page_before_a_wait(self):
        self.check_page_and_wait(run("worker", 24, "page_and_wait"), 24)


@unittest.skipUnless(SECCOMP, "no launcher that refuses perf events")
class Refused(Causes):
    """Perf events fail with EPERM, as in Docker's default profile."""

    abstains = True

    def run_refused(self, place, batches, *causes):
        seen = run(place, batches, *causes, launcher=[SECCOMP])
        self.assertTrue(is_refused(seen.summary["coverage"]), seen.summary["coverage"])
        self.assertEqual(seen.summary["run"]["events_lost"], 0)
        return seen

    def check_all(self, place):
        batches = 6 * len(QUICK)
        seen = self.run_refused(place, batches, *QUICK)
        if place != "worker":
            self.check_trainer(seen)
        if place == "loop":
            return
        sums, calls = self.truths_of(seen, batches)
        for row in ["pipe_read", "net_read"]:  # what hooks time
            self.near(seen.rows[row], sums[row], calls[row], seen, row)
        self.assertEqual(seen.rows["core_wait"], 0)  # nobody knows
        self.assertLess(seen.rows["fetch_wait"], (1 + SHARE) * self.off_all(seen))
        verdict = seen.summary["verdict"]
        self.assertNotIn(verdict["code"], ["storage-bound", "core-bound", "throttled"], verdict)

    def off_all(self, seen):
        return sum(truth["off_ns"] for truth in seen.truths.values())

    def test_a_page_before_a_wait(self):
        self.check_page_and_wait(self.run_refused("worker", 24, "page_and_wait"), 24)


def ended(how, before=()):
    """The end of the program's run on the card, and its processes."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(HERE, "ending_program.py")
        done = training.execute([*before, PYTHON, program, how], folder)
        trace = os.path.join(folder, "run.zst")
        if done.returncode == training.SKIP:
            training.skip(done.stderr.decode().strip())
        command = [os.environ["STAGEPROF_TEST_REPORT"], trace]
        card = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
        line = next(line for line in card.split("\n") if line.startswith("ended"))
        return line, training.report("summary", trace)["ending"]


class Endings(unittest.TestCase):
    def test_a_worker_that_is_killed(self):
        line, processes = ended("bus")
        killed = [row["pid"] for row in processes if row["how"] in ("killed", "signaled")]
        self.assertEqual(len(killed), 1, processes)
        self.assertRegex(line, f"failed with exit status 1 .*; worker {killed[0]} had been killed$")

    def test_a_full_shm(self):
        room = "mount -t tmpfs -o size=24m tmpfs /dev/shm || exit 77; exec \"$@\""
        line, processes = ended("full", ["unshare", "-rm", "sh", "-c", room, "sh"])
        told = next((row for row in processes if f"for process {row['pid']}" in line), None)
        self.assertIn("; /dev/shm was full for process ", line)
        self.assertEqual(told and told["role"], "worker", (line, processes))


if __name__ == "__main__":
    unittest.main()
