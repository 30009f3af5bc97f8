# SPDX-License-Identifier: Apache-2.0
"""Shared memory that killed processes leave, counted in an IPC namespace of this test's own. Two
processes at most live at a time."""

import glob
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

import harness
from harness import victim

KILLS = int(os.environ.get("STAGEPROF_TEST_KILLS", 2 * harness.REPEATS))
SEGMENTS_MOST, BYTES_MOST = 64, 32 << 20
SEGMENTS = "/proc/sysvipc/shm"
INSIDE = "STAGEPROF_TEST_OWN_IPC"


def segments(path=SEGMENTS):
    """(id, bytes, attached) of every segment of this namespace."""
    with open(path) as file:
        rows = [line.split() for line in file.readlines()[1:]]
    return [(int(row[1]), int(row[3]), int(row[6])) for row in rows]


def left(path=SEGMENTS):
    return [row for row in segments(path) if row[2] == 0]


class LeftMemory(harness.Case):
    def setUp(self):
        super().setUp()
        for number, _, _ in segments():
            subprocess.run(["ipcrm", "-m", str(number)], check=True)
        with open(os.path.join(self.folder, "in.dat"), "wb") as file:
            file.write(bytes(4096))
        self.most = (0, 0)
        self.tally = harness.Tally(os.path.join(self.folder, "tally"), 8 * KILLS + 64)

    def begin(self, run, threads):
        env = harness.traced_environment(
            self.folder, {"STAGEPROF_OUTPUT": os.path.join(self.folder, run)}
        )
        argv = [victim("kill_random"), "child", str(threads)]
        process = subprocess.Popen(argv, cwd=self.folder, env=env, start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def reads(self, pid):
        """Rows of the reads that the process counted."""
        return [row for row in self.tally.rows() if row.pid == pid and row.stage == "file_read"]

    def wait_for_reads(self, process):
        until = time.monotonic() + 60
        while not any(row.calls for row in self.reads(process.pid)):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)

    def kill_after_reads(self, process):
        self.wait_for_reads(process)
        self.kill(process)

    def kill(self, process):
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.look()

    def look(self):
        held = left()
        count, held_bytes = len(held), sum(row[1] for row in held)
        self.most = (max(self.most[0], count), max(self.most[1], held_bytes))
        self.assertLessEqual(count, SEGMENTS_MOST)
        self.assertLessEqual(held_bytes, BYTES_MOST)

    def next_run(self, seconds):
        """The segments that are left so long after a run began."""
        process = self.begin("next.zst", 0)
        until = time.monotonic() + seconds
        while left() and time.monotonic() < until:
            time.sleep(0.01)
        found = left()
        process.kill()
        process.wait()
        return found

    def kills(self, remove):
        draw = random.Random(KILLS)
        for number in range(0, KILLS, 2):
            runs = [f"{number}.zst", f"{number + 1}.zst"]
            processes = [self.begin(run, draw.randrange(4)) for run in runs]
            if number % 4:  # the others may be killed before their first read
                for process in processes:
                    self.wait_for_reads(process)
            for run, process in zip(runs, processes):
                time.sleep(draw.uniform(0, 0.03))
                self.kill(process)
                remove(os.path.join(self.folder, run))

    def test_removed_runs(self):
        self.kills(lambda run: shutil.rmtree(run, ignore_errors=True))
        self.assertGreater(self.most[0], 0, "no kill left memory: the test tests nothing")
        self.assertEqual(self.next_run(10), [])
        print("removed: at most %d segments, %d bytes after a kill" % self.most)

    def test_runs_that_stay(self):
        """The runs of killed processes have all that these counted."""
        self.kills(lambda run: None)
        print("kept: at most %d segments, %d bytes after a kill" % self.most)
        counted = {}
        for row in self.tally.rows():
            if row.stage == "file_read":
                sums = counted.setdefault(row.pid, [0, 0])
                sums[0] += row.calls
                sums[1] += row.begun
        compared = 0
        for run in sorted(glob.glob(os.path.join(self.folder, "*.zst")))[:60]:
            trace = harness.Trace(run)
            if not trace.exists():
                continue
            for thread in trace.report("processes", "--limit=all")["processes"]:
                stages, about = trace.stages(f"--process={thread['pid']}")
                low, high = counted.get(thread["pid"], (0, 0))  # killed before its first read
                calls = stages.get("file_read", {"calls": 0})["calls"]
                self.assertTrue(low <= calls <= high, f"{run}: {low} to {high}: {calls}")
                self.assertEqual(about["events_lost"], 0)
                compared += 1
        self.assertGreater(compared, min(KILLS, 60) / 3)

    def launcher(self, *words):
        program = os.path.join(harness.environment("STAGEPROF_TEST_PROGRAMS"), "stageprof")
        done = subprocess.run([program, *words], stdout=subprocess.PIPE, cwd=self.folder)
        return done.returncode, done.stdout.decode()

    def test_clean(self):
        """doctor and clean name what is left; clean frees all, and loses nothing of a run."""
        for run in ("removed", "stays"):
            self.kill_after_reads(self.begin(run, 1))
        shutil.rmtree(os.path.join(self.folder, "removed"))
        held = len(left())
        self.assertIn("/stays: stageprof clean frees them", self.launcher("doctor")[1])
        self.assertLess(len(left()), held)  # doctor's child is a next run
        self.kill_after_reads(self.begin("removed", 1))
        shutil.rmtree(os.path.join(self.folder, "removed"))
        status, said = self.launcher("clean")
        self.assertEqual((status, left()), (0, []), said)
        self.assertRegex(said, r"/stays: written to the run and freed\n")
        self.assertRegex(said, r"/removed: freed, because the run is gone\n")
        stages, about = harness.Trace(os.path.join(self.folder, "stays")).stages()
        self.assertGreater(stages["file_read"]["calls"], 0)
        self.assertEqual(about["events_lost"], 0)
        self.assertRegex(self.launcher("clean")[1], "No killed process")

    def test_clean_without_the_folder(self):
        """clean says why memory stays: the folder is in a mount namespace that is gone."""
        away = os.path.join(self.folder, "away")
        os.mkdir(away)
        env = harness.traced_environment(self.folder, {"STAGEPROF_OUTPUT": away + "/run.zst"})
        script = f"mount -t tmpfs none {away} && exec {victim('kill_random')} child 1"
        process = subprocess.Popen(["unshare", "-m", "sh", "-c", script], cwd=self.folder, env=env)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.kill_after_reads(process)
        status, said = self.launcher("clean")
        self.assertEqual(status, 1)
        self.assertRegex(said, "away/run.zst: stays, because its folder is not seen from here")

    def test_launcher_of_a_removed_run(self):
        """The launcher frees the memory of a command whose run was removed."""
        script = (
            f"{victim('kill_random')} child 1 & "
            "until grep -aq file_read tally; do sleep 0.05; done; "
            f"rm -rf run.zst; kill -9 $!; wait; cp {SEGMENTS} held"
        )
        env = harness.traced_environment(self.folder)
        del env["LD_PRELOAD"]
        program = os.path.join(harness.environment("STAGEPROF_TEST_PROGRAMS"), "stageprof")
        words = [program, "run", "--quiet", "--", "sh", "-c", script]
        subprocess.run(words, cwd=self.folder, env=env, timeout=60, stderr=subprocess.DEVNULL)
        self.assertNotEqual(left(os.path.join(self.folder, "held")), [])
        self.assertEqual(left(), [])

    def test_renamed_run(self):
        """A run that was renamed in its folder is found there."""
        process = self.begin("old.zst", 1)
        self.kill_after_reads(process)
        kept = len(left())
        self.assertGreater(kept, 0)
        os.rename(os.path.join(self.folder, "old.zst"), os.path.join(self.folder, "new.zst"))
        self.assertEqual(len(self.next_run(1)), kept)
        trace = harness.Trace(os.path.join(self.folder, "new.zst"))
        stages, about = trace.stages()
        rows = self.reads(process.pid)
        low, high = sum(row.calls for row in rows), sum(row.begun for row in rows)
        calls = stages["file_read"]["calls"]
        self.assertTrue(low <= calls <= high, f"{low} to {high}: {calls}")
        self.assertEqual(about["events_lost"], 0)


if __name__ == "__main__":
    if INSIDE not in os.environ:
        for way in ("-i", "-Uri"):
            if subprocess.run(["unshare", way, "true"], stderr=subprocess.DEVNULL).returncode == 0:
                os.environ[INSIDE] = "1"
                os.execvp("unshare", ["unshare", way, sys.executable] + sys.argv)
        print("unshare -i is not allowed here")
        sys.exit(harness.SKIP)
    harness.main()
