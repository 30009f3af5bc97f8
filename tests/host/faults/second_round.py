# SPDX-License-Identifier: Apache-2.0
"""Faults that an attack by a stranger found: each case failed when it was written."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import harness
from harness import victim

LATECOMERS = r"""
import os
page = open("in.dat", "w+b"); page.write(b"x" * 4096); page.flush()
def read(times):
    for _ in range(times): os.pread(page.fileno(), 16, 0)
read(1000)
with open(os.environ["FILLER"], "wb", buffering=0) as filler:
    try:
        while True: filler.write(b"y" * 65536)
    except OSError: pass
    try:
        while True: filler.write(b"y")
    except OSError: pass
children = []
for _ in range(4):
    pid = os.fork()
    if not pid:
        read(1000)
        os._exit(0)
    children.append(pid)
for pid in children: os.waitpid(pid, 0)
print("done")
"""

KILLED = r"""
import os
page = open("in.dat", "w+b"); page.write(b"x" * 4096); page.flush()
for _ in range(5000): os.pread(page.fileno(), 16, 0)
os.kill(os.getpid(), 9)
"""

READS = 700000


def truncated(path):
    os.truncate(path, 0)


def deleted(path):
    os.unlink(path)


def replaced(path):
    with open(path + ".tmp", "wb") as file:
        file.write(b"not yours\n" * 1000)
    os.rename(path + ".tmp", path)


CHANGES = (truncated, deleted, replaced)

GAPS = r"""
import os, sys, time
page = open("in.dat", "w+b"); page.write(b"x" * 4096); page.flush()
for _ in range(100000): os.pread(page.fileno(), 16, 0)
print("ready", flush=True)
worst, last, end = 0, time.monotonic(), time.monotonic() + 4
while last < end:
    os.pread(page.fileno(), 16, 0)
    time.sleep(0.0002)
    now = time.monotonic()
    worst, last = max(worst, now - last), now
print(worst)
os.kill(os.getpid(), 9)
"""

STOPPED = r"""
import os, signal, sys, time
server, ending = int(sys.argv[1]), sys.argv[2]
page = open("in.dat", "w+b"); page.write(b"x" * 4096); page.flush()
calls, worst = 0, 0
def read(seconds):
    global calls, worst
    end = last = time.monotonic()
    end += seconds
    while last < end:
        os.pread(page.fileno(), 16, 0)
        calls += 1
        now = time.monotonic()
        worst, last = max(worst, now - last), now
read(0.5)
os.kill(server, signal.SIGSTOP)
read(3 if ending == "later" else 1)
if ending == "fork":
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
if ending == "later":
    os.kill(server, signal.SIGCONT)
    read(1)
    tasks = len(os.listdir("/proc/self/task"))
else:
    tasks = 1
print(worst, calls, tasks, flush=True)
if ending != "exit":
    os.kill(os.getpid(), signal.SIGKILL)
"""

# More than a tail holds, in bursts of a tenth of it.
SLOW = r"""
import os, random, time
page = open("in.dat", "w+b"); page.write(b"x" * 4096); page.flush()
sizes = [random.randrange(1, 4096) for _ in range(30000)]
for _ in range(20):
    for size in sizes: os.pread(page.fileno(), size, 0)
    time.sleep(0.2)
print(20 * len(sizes), flush=True)
os.kill(os.getpid(), 9)
"""


class Handlers(harness.Case):
    def test_switched_stacks(self):
        """A handler that leaves by swapcontext suspends whatever it interrupted."""
        for mode in ("map", "write"):
            for attempt in range(2):
                with self.subTest(mode=mode, attempt=attempt):
                    outcome = self.both(
                        victim("preempted"),
                        "2000",
                        name=f"{mode}-{attempt}-",
                        env={"STAGEPROF_MODE": mode},
                    )
                    self.assertEqual(outcome.done.stdout, b"done\n")
                    run = outcome.trace.stages()[1]
                    # a call that was suspended for too long leaves a slot that says so
                    self.assertEqual(run["damage"]["slots_missing"], 0)
                    self.assertEqual(
                        run["events_recorded"] + run["events_lost"] + run["damage"]["slots_torn"],
                        sum(row.calls for row in outcome.rows()),
                    )

    def test_handler_during_vfork(self):
        outcome = self.both(victim("vfork_signals"), "100")
        self.assert_counted(outcome)
        self.assertGreater(sum(row.calls for row in outcome.rows()), 100, "no signal came")

    def test_no_false_damage(self):
        """Slots that a handler left unused are no loss where every call is there."""
        for attempt in range(10):
            folder = self.subfolder(str(attempt))
            outcome = self.execute([victim("signal_reader"), "400000"], folder)
            rows = [row for row in outcome.rows() if row.stage == "file_read"]
            stages, run = outcome.trace.stages()
            if stages["file_read"]["calls"] == sum(row.calls for row in rows):
                self.assertEqual(run["damage"]["slots_torn"], 0, run)


class Ends(harness.Case):
    def test_failed_execs(self):
        outcome = self.both(victim("failed_execs"), "200")
        self.assert_counted(outcome)


class Descriptors(harness.Case):
    def test_shared_table(self):
        """A process that shares the descriptors by syscall(2) sees none of the recorder's."""
        outcome = self.both(victim("shared_table"), "2000")
        self.assertEqual(outcome.done.stdout, b"other numbers: 0\n")
        self.assert_counted(outcome)


@harness.unittest.skipUnless(os.geteuid() == 0, "mounts need root")
class Disks(harness.Case):
    def mounted(self, *command):
        mount = self.subfolder("mount")
        done = subprocess.run([*command, mount], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            self.skipTest(done.stdout.decode())
        self.addCleanup(subprocess.run, ["umount", "-l", mount])
        return mount

    def test_workers_that_find_the_disk_full(self):
        """Processes that cannot make a file are there, with every event recorded or counted."""
        mount = self.mounted("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs")
        env = {
            "STAGEPROF_OUTPUT": os.path.join(mount, "run.zst"),
            "FILLER": os.path.join(mount, "filler"),
        }
        outcome = self.execute([sys.executable, "-c", LATECOMERS], self.subfolder("run"), env=env)
        self.assertEqual((outcome.done.returncode, outcome.done.stdout), (0, b"done\n"))
        outcome.trace.path = env["STAGEPROF_OUTPUT"]
        listed = outcome.trace.report("processes")["processes"]
        self.assertEqual(len(listed), 5, listed)
        threads = outcome.trace.report("threads", "--limit=all")["threads"]
        self.assertGreaterEqual(sum(t["events"] + t["events_lost"] for t in threads), 5000)

    def test_frozen(self):
        """A frozen file system does not stop a host that does not write to it."""
        image = os.path.join(self.folder, "image")
        with open(image, "wb") as file:
            file.truncate(64 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
        mount = self.mounted("mount", "-o", "loop", image)
        # some thousand events: a tail may become full meanwhile, not each time
        for number in range(3):
            worst = self.longest_wait(mount, number)
            if worst < 1.5:
                break
        self.assertLess(worst, 1.5, "the host stood still as long as the file system did")

    def test_stopped_server(self):
        """Calls of the host and its end do not wait for a FUSE server that is stopped."""
        if not shutil.which("bindfs"):
            self.skipTest("no bindfs")
        for ending in ("later", "kill", "fork", "exit"):
            with self.subTest(ending):
                self.stop_server(ending)

    def test_slow_disk(self):
        """A disk that takes 0.2 s for each append loses nothing."""
        if not shutil.which("strace"):
            self.skipTest("no strace")
        env = harness.traced_environment(self.folder)
        log = os.path.join(self.folder, "appends")
        late = "inject=pwritev:delay_enter=200000"
        command = ["strace", "-f", "--seccomp-bpf", "-qq", "-e", "signal=none", "-o", log]
        command += ["-e", "trace=pwritev", "-e", late, "-E", "LD_PRELOAD=" + env.pop("LD_PRELOAD")]
        command += [sys.executable, "-c", SLOW]
        host = subprocess.run(command, cwd=self.folder, env=env, stdout=subprocess.PIPE)
        with open(log) as file:
            appends = file.read().count("DELAYED")
        if not appends:
            self.skipTest("strace delays nothing")
        output = os.path.join(self.folder, "run.zst")
        written = sum(os.stat(os.path.join(output, name)).st_size for name in os.listdir(output))
        run = harness.Trace(output).stages()[1]
        read = harness.reads_by_name(harness.Trace(output))["in.dat"][0]
        print(appends, "appends,", read, "of", int(host.stdout), run["events_lost"], "lost")
        self.assertEqual((read, run["events_lost"]), (int(host.stdout), 0))
        self.assertGreater(written, 5 << 18, "a tail held it all")

    def stop_server(self, ending):
        under, mount = self.subfolder("under-" + ending), self.subfolder("mount-" + ending)
        server = subprocess.Popen(["bindfs", "-f", under, mount], stderr=subprocess.DEVNULL)
        self.addCleanup(subprocess.run, ["umount", "-l", mount])
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for _ in range(100):
            if os.path.ismount(mount):
                break
            time.sleep(0.05)
        else:
            self.skipTest("no FUSE")
        output = os.path.join(mount, "run.zst")
        env = harness.traced_environment(self.folder, {"STAGEPROF_OUTPUT": output})
        command = [sys.executable, "-c", STOPPED, str(server.pid), ending]
        host = subprocess.Popen(command, cwd=self.folder, env=env, stdout=subprocess.PIPE)
        alarm = threading.Timer(20, server.send_signal, [signal.SIGCONT])
        alarm.start()
        try:
            worst, calls, tasks = host.stdout.readline().split()
            said = time.monotonic()
            host.wait(timeout=30)
            ended = time.monotonic() - said
        finally:
            alarm.cancel()
            server.send_signal(signal.SIGCONT)
            host.communicate()
        self.assertLess(float(worst), 1)
        self.assertLess(ended, 5)
        self.assertEqual(int(tasks), 1)
        report = [harness.environment("STAGEPROF_TEST_REPORT"), "files", "--format=json", output]
        rows = json.loads(subprocess.run(report, stdout=subprocess.PIPE, check=True).stdout)
        report[1] = "summary"
        run = json.loads(subprocess.run(report, stdout=subprocess.PIPE, check=True).stdout)["run"]
        read = sum(f["reads"] for f in rows["files"] if f["name"].endswith("in.dat"))
        print(ending, worst, ended, calls, read, run["events_lost"])
        self.assertGreaterEqual(read + run["events_lost"], int(calls))
        self.assertLess(read + run["events_lost"] - int(calls), 100)

    def longest_wait(self, mount, number):
        env = harness.traced_environment(
            self.folder,
            {"STAGEPROF_OUTPUT": f"{mount}/run-{number}.zst"},
        )
        process = subprocess.Popen(
            [sys.executable, "-c", GAPS], cwd=self.folder, env=env, stdout=subprocess.PIPE
        )
        self.assertEqual(process.stdout.readline(), b"ready\n")
        time.sleep(0.5)
        os.sync()
        subprocess.run(["fsfreeze", "-f", mount], check=True)
        try:
            time.sleep(2)
        finally:
            subprocess.run(["fsfreeze", "-u", mount], check=True)
        return float(process.communicate(timeout=60)[0])


class Files(harness.Case):
    def begin(self, folder, settings=None):
        """A host that reads, when it has made 50,000 calls, its run's folder, and its account."""
        tally = harness.Tally(os.path.join(folder, "tally"))
        process = subprocess.Popen(
            [victim("read_loop"), "2", str(READS)],
            cwd=folder,
            env=harness.traced_environment(folder, settings),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while sum(row.calls for row in tally.rows()) < 50000:
            time.sleep(0.005)
        return process, os.path.join(folder, "run.zst"), tally

    def test_changed_files(self):
        """Another program changes a file of the run, and no store of ours becomes a signal."""
        folders = {"here": self.subfolder("here")}
        if os.access("/dev/shm", os.W_OK):
            folders["shm"] = tempfile.mkdtemp(dir="/dev/shm")
            self.addCleanup(shutil.rmtree, folders["shm"], True)
        for place, folder in folders.items():
            for change in CHANGES if place == "here" else CHANGES[:1]:  # truncated
                for which in ("marker", "thread", "all"):
                    with self.subTest(place=place, change=change.__name__, which=which):
                        self.change(os.path.join(folder, change.__name__ + which), change, which)

    def change(self, folder, change, which):
        os.mkdir(folder)
        process, run, tally = self.begin(folder)
        names = sorted(os.listdir(run))  # the marker is the first
        self.assertGreater(len(names), 1)
        for name in {"marker": names[:1], "thread": names[1:2], "all": names}[which]:
            change(os.path.join(run, name))
        self.assertIsNone(process.poll(), "the host ended before its files were changed")
        self.assertEqual(process.wait(timeout=120), 0)
        calls = sum(row.calls for row in tally.rows() if row.stage == "file_read")
        self.assertEqual(calls, 2 * READS)

    @harness.unittest.skipUnless(os.geteuid() == 0, "IPC namespaces need root")
    def test_read_elsewhere(self):
        """A report that cannot reach the memory of a killed thread says so, and does not show
        what is in it as never done."""
        folder = self.subfolder("elsewhere")
        outcome = self.execute([sys.executable, "-c", KILLED], folder)
        self.assertEqual(outcome.done.returncode, -9)
        report = [os.environ["STAGEPROF_TEST_REPORT"], outcome.trace.path]
        away = ["unshare", "--ipc", *report]
        for brought in (False, True):
            card = subprocess.run(away, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            text = card.stderr + card.stdout
            self.assertEqual("the last events of 1 thread are not here" in text, not brought, text)
            self.assertEqual("not here   the last events of" in text, not brought, text)
            self.assertEqual("of threads are not here" in " ".join(text.split()), not brought, text)
            reads = outcome.trace.stages()[0]["file_read"]["calls"]  # brings them in
            self.assertGreaterEqual(reads, 5000)

    def test_collected_by_the_launcher(self):
        """The launcher brings the last events into the run, also where it prints no card."""
        folder = self.subfolder("launched")
        launcher = os.path.join(os.path.dirname(os.environ["STAGEPROF_TEST_REPORT"]), "stageprof")
        env = harness.traced_environment(folder)
        del env["LD_PRELOAD"]
        command = [launcher, "run", "-q", "--", sys.executable, "-c", KILLED]
        done = subprocess.run(command, cwd=folder, env=env, stderr=subprocess.PIPE)
        self.assertIn(done.returncode, (-9, 137), done.stderr)
        run = os.path.join(folder, "run.zst")
        end = time.monotonic() + 60
        # Another run that begins meanwhile may have taken them, and still write.
        while not any("-tails-" in name for name in os.listdir(run)):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        self.assert_killed_reads(run)

    def test_copied_and_moved(self):
        """The calls of a killed process are in the run and in its copy, wherever these are."""
        outcome = self.execute([sys.executable, "-c", KILLED], self.subfolder("killed"))
        copy, moved = (os.path.join(self.folder, name) for name in ("copy.zst", "moved.zst"))
        shutil.copytree(outcome.trace.path, copy)
        self.assert_killed_reads(copy)
        self.assert_killed_reads(outcome.trace.path)
        outcome = self.execute([sys.executable, "-c", KILLED], self.subfolder("again"))
        os.rename(outcome.trace.path, moved)
        time.sleep(1.1)
        # a process that begins another run removes what runs that are gone have left
        self.execute([victim("read_loop"), "1", "100"], self.subfolder("other"))
        self.assert_killed_reads(moved)

    def assert_killed_reads(self, path):
        self.assertEqual(harness.reads_by_name(harness.Trace(path))["in.dat"][0], 5000)

    def test_replaced_files_stay_as_they_are(self):
        """cp, rm, mv: a file that has our name and is another one gets nothing from us."""
        process, run, _ = self.begin(self.subfolder("replaced"))
        replaced = {}
        for name in sorted(os.listdir(run)):
            path = os.path.join(run, name)
            if name.startswith("0-run"):
                continue
            with open(path + ".tmp", "wb") as file:
                file.write(b"not yours\n" * 1000)
            os.rename(path + ".tmp", path)
            replaced[path] = os.stat(path).st_size
        self.assertTrue(replaced)
        self.assertEqual(process.wait(timeout=120), 0)
        for path, size in replaced.items():
            with open(path, "rb") as file:
                self.assertEqual(file.read(), b"not yours\n" * 1000, path)

    def test_marker_that_is_a_link(self):
        folder = self.subfolder("planted")
        trap = os.path.join(folder, "trap")
        source = self.execute([victim("read_loop"), "1", "100"], self.subfolder("run"))
        marker = next(f for f in source.trace.files() if os.path.basename(f).startswith("0-run-"))
        shutil.copy(marker, trap)
        with open(trap, "rb") as file:
            before = file.read()
        planted = os.path.join(folder, "run.zst")
        os.makedirs(planted)
        os.symlink(trap, os.path.join(planted, os.path.basename(marker)))
        launcher = os.path.join(os.path.dirname(os.environ["STAGEPROF_TEST_REPORT"]), "stageprof")
        done = subprocess.run([launcher, "off", planted], stderr=subprocess.PIPE)
        self.assertNotEqual(done.returncode, 0)
        with open(trap, "rb") as file:
            self.assertEqual(file.read(), before)

    def test_strange_entries_are_not_opened(self):
        """Links, FIFOs and devices in a run are refused by their kind, unopened."""
        if not shutil.which("strace"):
            self.skipTest("no strace")
        outcome = self.execute([victim("read_loop"), "1", "100"], self.subfolder("run"))
        os.symlink("/etc/passwd", os.path.join(outcome.trace.path, "link.zst"))
        os.mkfifo(os.path.join(outcome.trace.path, "fifo.zst"))
        log = os.path.join(self.folder, "opened")
        report = os.environ["STAGEPROF_TEST_REPORT"]
        command = ["strace", "-f", "-qq", "-e", "trace=open,openat,openat2", "-o", log]
        subprocess.run(
            command + [report, "stages", outcome.trace.path],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with open(log) as file:
            text = file.read()
        self.assertIn("0-run-", text)
        self.assertNotIn("link.zst", text)
        self.assertNotIn("fifo.zst", text)

    def test_no_escape_sequence_from_a_setting(self):
        folder = self.subfolder("escape")
        for setting in ("STAGEPROF_OUTPUT", "STAGEPROF_STEPS", "STAGEPROF_MODE"):
            env = harness.traced_environment(folder, {setting: "/dev/null/\x1b]0;owned\x07x"})
            done = subprocess.run(
                [victim("read_loop"), "1", "100"], cwd=folder, env=env, stderr=subprocess.PIPE
            )
            self.assertNotIn(b"\x1b", done.stderr, setting)
            self.assertNotIn(b"\x07", done.stderr, setting)


if __name__ == "__main__":
    harness.main()
