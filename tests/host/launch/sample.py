# SPDX-License-Identifier: Apache-2.0
"""stageprof run --sample: Python functions by their time, from outside.

STAGEPROF_TEST_PYTHONS: further interpreters, separated by colons.
"""

import json
import math
import os
import shutil
import subprocess
import time

import scene
from scene import PYTHON, REPORT, ROOT, STAGEPROF, clean_environment

BUSY = os.path.join(ROOT, "tests/programs/victims/busy_functions.py")
NAMES = ("ten", "twenty", "forty", "ten_inside", "generate")

FLEETING = os.path.join(ROOT, "tests/programs/victims/fleeting_code.py")

KNOWN = os.path.join(ROOT, "tests/programs/victims/known_shares.py")
KNOWN_SECONDS = 12
NATIVE = os.path.join(ROOT, "tests/programs/victims/native_code.py")
POINTS = 0.02

KILLED = """
import os, signal, time
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        while True:
            (lambda: sum(range(100)))()
    time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
"""

CROWD = """
import os, time
children = []
for _ in range(24):
    pid = os.fork()
    if pid == 0:
        end = time.monotonic() + 4
        while time.monotonic() < end:
            sum(range(1000))
        os._exit(0)
    children.append(pid)
for pid in children:
    os.waitpid(pid, 0)
"""
UNPRICED_LOOKS = 20  # the sampler knows the price of ten, and of those up to its next review
LIMIT = 350  # 1 / LIMIT of a processor: SP_SAMPLER_PRICE

HIDDEN = """
import ctypes, time
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
end = time.monotonic() + 1
while time.monotonic() < end:
    sum(range(100))
print("done")
"""


# The loop is longer than a look. The child of fork is sampled, too.
APART = """
import json, os, subprocess, time
open("/etc/passwd").read()
def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(100))
def be_forked():
    spin(0.4)
    os._exit(0)
try:
    pid = os.wait()[0]
except ChildProcessError:
    pid = 0
spin(0.4)
child = os.fork()
if child == 0:
    be_forked()
os.waitpid(child, 0)
samplers = []
for pid_of in filter(str.isdigit, os.listdir("/proc")):
    try:
        words = open(f"/proc/{pid_of}/cmdline").read().split("\\0")
        opened = os.listdir(f"/proc/{pid_of}/fd")
        links = [os.readlink(f"/proc/{pid_of}/fd/{name}") for name in ("0", "1", "2")]
    except OSError:
        continue
    if words[:3] == ["stageprof", "sampler", str(os.getpid())]:
        samplers.append({"pid": int(pid_of), "links": links})
print(json.dumps({"waited": pid, "samplers": samplers, "fds": len(os.listdir("/proc/self/fd"))}))
"""


def by_name(functions):
    """A library may have a function of the program's name: it takes less time."""
    return {row["function"]: row for row in sorted(functions, key=lambda row: row["total_ns"])}


class SampledCase(scene.Case):
    def sampled(self, *command, rate=200, prefix=(), **options):
        run = os.path.join(self.folder, "run.zst")
        shutil.rmtree(run, ignore_errors=True)
        asked = f"--sample={rate}" if rate else "--sample"
        done = self.call(
            *prefix, STAGEPROF, "run", "-q", asked, f"--output={run}", "--", *command, **options
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return run, done

    def functions(self, run, *options):
        text = subprocess.check_output(
            [REPORT, "functions", "--format=json", *options, run], env=clean_environment()
        )
        return json.loads(text)

    def check_shares(self, python, **options):
        run, done = self.sampled(python, BUSY, "1.5", "fork", **options)
        true = json.loads(done.stdout)
        report = self.functions(run)
        rows = by_name(report["functions"])
        whole = sum(true.values())
        spun = rows["spin"]["own_ns"]
        samples = rows["spin"]["samples"]
        self.assertGreater(samples, 100, report["sampler"])
        for name in NAMES:
            share = true[name] + (true["ten_inside"] if name == "forty" else 0)
            share /= whole
            # six standard deviations: looks of a starved sampler are not alike
            bound = 0.02 + 6 * math.sqrt(share * (1 - share) / samples)
            self.assertLess(abs(rows[name]["total_ns"] / spun - share), bound, (name, python))
        self.assertLess(rows["spin"]["line"], rows["ten"]["line"])
        self.assertGreater(rows["be_forked"]["total_ns"], 0)
        # the sleeper's time is in no row: it may have been seen on its way to sleep
        self.assertLess(rows.get("sleep_long", {"samples": 0})["samples"], samples / 20)
        self.assertEqual(report["sampler"]["processes_unknown"], 0)
        return True


class Sample(SampledCase):
    def test_shares(self):
        self.check_shares(PYTHON)

    def test_shares_of_other_versions(self):
        others = os.environ.get("STAGEPROF_TEST_PYTHONS", "").split(":")
        others = [other for other in others if other and os.path.realpath(other) != PYTHON]
        if not others:
            self.skipTest("STAGEPROF_TEST_PYTHONS names no other interpreter")
        for other in others:
            with self.subTest(other):
                self.check_shares(other)

    def check_known_shares(self, python):
        run, done = self.sampled(python, KNOWN, str(KNOWN_SECONDS), rate=1000)
        report = self.functions(run)
        rows = by_name(report["functions"])
        self.assertGreater(report["sampler"]["looks"], KNOWN_SECONDS * 1000 / 8)
        # on a busy machine the two threads have different luck with the looks
        for true in json.loads(done.stdout):
            whole = sum(true.values())
            found = sum(rows[name]["total_ns"] for name in true)
            found -= rows["inner"]["total_ns"] if "inner" in true else 0
            for name, ns in true.items():
                share = (ns + (true["inner"] if name == "outer" else 0)) / whole
                off = abs(rows[name]["total_ns"] / found - share)
                bound = POINTS + 3 * math.sqrt(share * (1 - share) / (found * 1000 / 1e9))
                self.assertLess(off, bound, (name, python, share, rows[name]))
        self.assertLess(report["sampler"]["torn"], report["sampler"]["samples"] / 50)

    def test_known_shares(self):
        if os.environ.get("STAGEPROF_TEST_PYTHONS") is None:
            self.skipTest("nightly: STAGEPROF_TEST_PYTHONS is not set")
        self.check_known_shares(PYTHON)
        for other in os.environ["STAGEPROF_TEST_PYTHONS"].split(":"):
            if other and os.path.realpath(other) != PYTHON:
                with self.subTest(other):
                    self.check_known_shares(other)

    def test_lines(self):
        run, _ = self.sampled(PYTHON, BUSY, "1")
        with open(BUSY) as file:
            lines = file.read().splitlines()
        loop = [i + 1 for i, line in enumerate(lines) if "while time.thread_time_ns" in line]
        rows = self.functions(run, "--by=line")["functions"]
        first = rows[0]
        self.assertEqual(first["function"], "spin")
        self.assertIn(first["line"], (loop[0], loop[0] + 1))

    def test_native_code(self):
        """Each function has the library in which it computes, and each library its share."""
        run, done = self.sampled(PYTHON, NATIVE, "4", rate=1000)
        true = json.loads(done.stdout.splitlines()[-1])
        report = self.functions(run)
        if report["sampler"]["threads_leafless"]:
            self.skipTest("the kernel gives no perf events here")
        rows = by_name(report["functions"])
        by_library = self.functions(run, "--by=library")["functions"]
        known = [row for row in by_library if row["library"][0] != "("]
        running = sum(row["own_ns"] - row["waited_ns"] for row in report["functions"])
        whole, samples = (sum(row[key] for row in known) for key in ("own_ns", "samples"))
        self.assertGreater(samples, 20, report["sampler"])
        self.assertGreater(whole, 0.9 * running, by_library)
        self.assertLess(whole, 1.01 * running, by_library)

        def bound(share):
            """One look in sixteen knows its library, and it may meet the next function. Such looks
            are few where the sampler waits for a core."""
            return 0.05 + 4 * math.sqrt(share * (1 - share) / samples)

        for name, library in {**true["libraries"], "count": rows["count"]["library"]}.items():
            share = true["took"][name] / sum(true["took"].values())
            own = sum(row["own_ns"] for row in known if row["library"] == library)
            if library:
                self.assertEqual(rows[name]["library"], library, rows[name])
                self.assertGreater(rows[name]["library_share"], 0.5, rows[name])
                self.assertLess(abs(own / whole - share), bound(share), (name, known))
        self.assertRegex(rows["count"]["library"], "^(lib)?python")

    def test_no_perf_events(self):
        run, _ = self.sampled(PYTHON, BUSY, "0.5", preexec_fn=scene.refuse_perf_events)
        report = self.functions(run)
        self.assertGreater(report["sampler"]["threads_leafless"], 0)
        self.assertTrue(report["functions"])
        self.assertEqual({row["library"] for row in report["functions"]}, {None})
        text = subprocess.check_output([REPORT, "functions", run], env=clean_environment())
        self.assertIn(b"perf_event_paranoid", text)

    def test_code_objects_freed(self):
        run, done = self.sampled(PYTHON, FLEETING, "1.5", rate=500)
        true = json.loads(done.stdout)
        report = self.functions(run)
        found = by_name(report["functions"])
        whole = sum(found[name]["own_ns"] for name in true)
        for name, ns in true.items():
            share = ns / sum(true.values())
            bound = 0.02 + 6 * math.sqrt(share * (1 - share) / found[name]["samples"])
            self.assertLess(abs(found[name]["own_ns"] / whole - share), bound, (name, found[name]))

    def test_price_is_held(self):
        """100 looks a second at so many threads would take more. The price of a look is that of
        this run."""
        run, _ = self.sampled(PYTHON, "-c", CROWD, rate=None)
        sampler = self.functions(run)["sampler"]
        price_ns = sampler["cpu_ns"] / sampler["looks"]
        most = UNPRICED_LOOKS + 2 * sampler["wall_ns"] / (LIMIT * price_ns)
        self.assertGreater(sampler["looks"], 5)
        self.assertLess(sampler["looks"], most, sampler)

    def test_killed_while_it_is_read(self):
        run, _ = self.sampled(PYTHON, "-c", KILLED, rate=1000)
        report = self.functions(run)
        self.assertGreater(report["sampler"]["samples"], 0)
        self.assertTrue(any("lambda" in (row["function"] or "") for row in report["functions"]))

    def test_no_right(self):
        prefix = ()
        if os.geteuid() == 0:
            if not shutil.which("setpriv"):
                self.skipTest("no setpriv")
            prefix = ("setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace")
            if subprocess.run([*prefix, "true"]).returncode != 0:
                self.skipTest("setpriv cannot drop a capability here")
        _, done = self.sampled(PYTHON, "-c", HIDDEN, prefix=prefix)
        self.assertEqual(done.stdout, "done\n")
        lines = [line for line in done.stderr.splitlines() if "SP113" in line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn("PR_SET_DUMPABLE", lines[0])

    def test_no_right_by_a_filter(self):
        run, done = self.sampled(PYTHON, BUSY, "0.3", preexec_fn=scene.refuse_to_read)
        self.assertIn("SP113", done.stderr)
        self.assertIn("--cap-add=SYS_PTRACE", done.stderr)
        report = self.functions(run)
        self.assertEqual(report["functions"], [])

    def test_default(self):
        """Without a word of it the launcher samples for less than 0.3% of a core."""
        run = os.path.join(self.folder, "run.zst")
        done = self.call(STAGEPROF, "run", f"--output={run}", "--", PYTHON, BUSY, "1.5")
        self.assertNotIn("SP113", done.stderr)
        self.assertIn("spin", by_name(self.functions(run)["functions"]))

    def test_refused(self):
        """--no-sample, and nothing that nobody asked for is explained."""
        run = os.path.join(self.folder, "run.zst")
        self.call(
            STAGEPROF, "run", "-q", "--no-sample", f"--output={run}", "--", PYTHON, BUSY, "0.2"
        )
        report = self.functions(run)
        self.assertEqual((report["functions"], report["sampler"]["samples"]), ([], 0))
        done = self.call(
            STAGEPROF, "run", "-q", "--", PYTHON, BUSY, "0.3", preexec_fn=scene.refuse_to_read
        )
        self.assertNotIn("SP113", done.stderr)

    def test_no_process_of_the_run(self):
        run, _ = self.sampled(PYTHON, BUSY, "0.5")
        text = subprocess.check_output([REPORT, "processes", "--format=json", run])
        self.assertNotIn("stageprof", [row["exe"] for row in json.loads(text)["processes"]])

    def test_wrong_rate(self):
        for rate in ("1001", "x", "-1"):
            done = self.call(STAGEPROF, "run", f"--sample={rate}", "--", "true")
            self.assertEqual(done.returncode, 2, done.stderr)


class Apart(SampledCase):
    """STAGEPROF_SAMPLE with LD_PRELOAD alone: a process of its own samples."""

    def preloaded(self, *command, library=scene.LIBRARY, sample="200", name="apart.zst"):
        run = os.path.join(self.folder, name)
        env = clean_environment(LD_PRELOAD=library, STAGEPROF_OUTPUT=run, STAGEPROF_SAMPLE=sample)
        done = self.call(*command, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return run, done

    def ended(self, pid):
        """The sampler has seen the end of the program; a zombie has ended, too."""
        for _ in range(200):
            try:
                with open(f"/proc/{pid}/stat") as file:
                    if file.read().rpartition(")")[2].split()[0] == "Z":
                        return True
            except OSError:
                return True
            time.sleep(0.05)
        return False

    def told(self, run, done):
        """Everything about the sampler that the program saw, and its functions."""
        self.assertEqual(done.stderr, "")
        said = json.loads(done.stdout)
        self.assertEqual(len(said["samplers"]), 1, said)
        self.assertTrue(self.ended(said["samplers"][0]["pid"]))
        rows = by_name(self.functions(run)["functions"])
        self.assertGreater(rows["spin"]["samples"], 10)
        self.assertGreater(rows["be_forked"]["total_ns"], 0)
        return said

    def test_no_part_of_the_program(self):
        said = self.told(*self.preloaded(PYTHON, "-c", APART))
        plain = json.loads(self.preloaded(PYTHON, "-c", APART, sample="0")[1].stdout)
        self.assertEqual((said["waited"], said["fds"]), (0, plain["fds"]))
        self.assertEqual(plain["samplers"], [])
        # no pipe of the program is held open
        self.assertEqual(said["samplers"][0]["links"], ["/dev/null"] * 3)

    def test_of_a_shell(self):
        """The shell records nothing: each program that it starts is sampled."""
        run, done = self.preloaded("sh", "-c", '"$0" -c "$1"; "$0" -c "$1"', PYTHON, APART)
        self.assertEqual(done.stderr, "")
        pids = [json.loads(line)["samplers"][0]["pid"] for line in done.stdout.splitlines()]
        self.assertEqual(len(set(pids)), 2)
        self.assertTrue(all(self.ended(pid) for pid in pids))

    def test_first_process_of_a_container(self):
        """Orphans would be its children: its wait() must find none."""
        unshare = ["unshare", "--pid", "--fork", "--mount-proc"]
        if subprocess.run([*unshare, "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no namespaces of processes here")
        run, done = self.preloaded(*unshare, PYTHON, "-c", APART)
        said = json.loads(done.stdout)
        self.assertEqual((said["waited"], len(said["samplers"])), (0, 1))
        rows = {row["function"] for row in self.functions(run)["functions"]}
        self.assertIn("spin", rows)

    def test_killed(self):
        code = "import os, signal; " + "x = sum(range(30000000)); os.kill(os.getpid(), 9)"
        run = os.path.join(self.folder, "killed.zst")
        env = clean_environment(
            LD_PRELOAD=scene.LIBRARY, STAGEPROF_OUTPUT=run, STAGEPROF_SAMPLE="auto"
        )
        begun = subprocess.Popen([PYTHON, "-c", "open('/etc/passwd'); " + code], env=env)
        found = None
        while begun.poll() is None:
            found = found or self.sampler_of(begun.pid)
        self.assertEqual(begun.returncode, -9)
        self.assertIsNotNone(found)
        self.assertTrue(self.ended(found))

    def sampler_of(self, root):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline") as file:
                    if file.read().split("\0")[:3] == ["stageprof", "sampler", str(root)]:
                        return int(pid)
            except OSError:
                continue
        return None

    def test_library_copied_alone(self):
        library = os.path.join(self.folder, "libstageprof.so")
        shutil.copy(scene.LIBRARY, library)
        _, done = self.preloaded(PYTHON, "-c", APART, library=library)
        lines = [line for line in done.stderr.splitlines() if "stageprof" in line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn("not beside the library", lines[0])
        self.assertEqual(json.loads(done.stdout)["samplers"], [])

    def test_the_launcher_samples_alone(self):
        """The launcher has a sampler: the library begins no other."""
        run, done = self.sampled(PYTHON, "-c", APART)
        self.assertEqual(json.loads(done.stdout)["samplers"], [])
        inner = (STAGEPROF, "run", "-q", f"--output={run}", "--", PYTHON, "-c", APART)
        run, done = self.sampled(*inner)
        self.assertEqual(json.loads(done.stdout)["samplers"], [])
        self.assertGreater(self.functions(run)["sampler"]["samples"], 0)


if __name__ == "__main__":
    scene.main()
