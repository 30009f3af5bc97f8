# SPDX-License-Identifier: Apache-2.0
"""stageprof run where little is allowed: the command's output and status are those by hand.

    launcher.py Situations     each situation once
    launcher.py Calls          SIGKILL or an error at one system call of the launcher in twelve
    launcher.py each Calls     at every one of its system calls
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import time

import harness

READS = 70
STEP = 1 if "each" in sys.argv else 12
READER = f"""
import os
with open('/etc/passwd', 'rb', buffering=0) as f:
    for _ in range({READS}): f.read(10)
print('read', len(os.listdir('/proc/self/fd')))
raise SystemExit(3)
"""
PYTHON = os.path.realpath(sys.executable)
# realpath() needs readlink of each folder
CANNOT_FAIL = "getpid futex brk kill wait4 readlink munmap exit_group".split()
CANNOT_FAIL += "rt_sigaction rt_sigprocmask rt_sigtimedwait".split()
SMALL = "mount -t tmpfs -o size=4k none {0} || exit 77; head -c 9000 /dev/zero >{0}/x || :"
NO_RIGHTS = 'set -- setpriv --bounding-set=-all --inh-caps=-all "$@"'
# The shell does the first column before the command; the second says how much must be recorded.
ALL, SOME, NONE = "all", "all, or one line or two", "one line or two"
SITUATIONS = {
    "nohup": ('set -- nohup "$@"', ALL),
    "setsid": ('set -- setsid -w "$@"', ALL),
    "ignored_signals": ("trap '' HUP INT TERM CHLD PIPE TSTP TTIN TTOU", ALL),
    "blocked_signals": ('set -- env --block-signal "$@"', ALL),
    "no_home": ("unset HOME XDG_STATE_HOME XDG_RUNTIME_DIR TMPDIR USER LOGNAME", ALL),
    "no_such_home": ("HOME=/nowhere XDG_STATE_HOME=/nowhere TMPDIR=/nowhere; export HOME", ALL),
    "no_environment": ('set -- env -i $(env | grep ^STAGEPROF_) "$@"', ALL),
    "twenty_descriptors": ("ulimit -n 20", ALL),
    "seven_descriptors": ("ulimit -n 7", SOME),
    "no_input": ("exec <&-", ALL),
    "no_core_no_queue": ("ulimit -c 0; ulimit -i 0; ulimit -q 0; ulimit -l 0", ALL),
    "small_stack": ("ulimit -s 256", ALL),
    "file_size": ("ulimit -f 0", SOME),
    "memory_220m": ("ulimit -v 220000", ALL),
    "memory_40m": ("ulimit -v 40000", ALL),
    "full_shm": (SMALL.format("/dev/shm"), ALL),
    "no_shm": ("mount -t tmpfs -o ro none /dev/shm", ALL),
    "no_segments": ("echo 0 >/proc/sys/kernel/shmmni", ALL),
    "hidden_processes": ("mount -o remount,hidepid=2 /proc; " + NO_RIGHTS, ALL),
    "no_proc": ("mount -t tmpfs -o ro none /proc", SOME),
    "file_size_64k": ("ulimit -f 64", SOME),
    "file_size_128k": ("ulimit -f 128", ALL),
    "read_only_folder": ("mount -t tmpfs -o ro none $FOLDER", NONE),
    "full_folder": (SMALL.format("$FOLDER"), NONE),
}


class Launcher(harness.Case):
    def setUp(self):
        super().setUp()
        self.program = os.path.join(harness.environment("STAGEPROF_TEST_PROGRAMS"), "stageprof")

    def environment(self, folder):
        env = harness.traced_environment(folder)
        del env["LD_PRELOAD"], env["TALLY"]
        env.update(FOLDER=folder, XDG_STATE_HOME=folder, PYTHONDONTWRITEBYTECODE="1")
        return env

    def reads_of(self, run):
        return harness.reads_by_name(harness.Trace(run)).get("passwd", (0, 0))[0]


class Situations(Launcher):
    APART = ["unshare", "-mipf", "--mount-proc", "sh", "-c"]

    def run_in(self, name, before, *argv):
        folder = self.subfolder(name)
        os.chmod(folder, 0o777)
        return folder, subprocess.run(
            [*self.APART, before + ' || exit 77; exec "$@"', "sh", *argv],
            cwd=folder,
            env=self.environment(folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
        )

    def check(self, name, before, recorded):
        command = [PYTHON, "-c", READER]
        _, plain = self.run_in(name + "-plain", before, *command)
        if plain.returncode == 77:
            return name
        launched = [self.program, "run", "--quiet", "--", *command]
        folder, done = self.run_in(name, before, *launched)
        self.assertEqual(plain.returncode, done.returncode, done.stderr.decode())
        self.assertEqual(plain.stdout, done.stdout)
        lines = done.stderr.decode().splitlines()
        ours = [line for line in lines if line.startswith("stageprof")]
        self.assertEqual(plain.stderr.decode().splitlines(), [l for l in lines if l not in ours])
        run = os.path.join(folder, "run.zst")
        found = self.reads_of(run) if harness.Trace(run).exists() else 0
        wanted = {ALL: [(READS, 0)], NONE: [(0, 2)], SOME: [(READS, 0), (0, 2)]}[recorded]
        if plain.stdout:
            self.assertIn((found, len(ours)), wanted, ours)
        if ours:
            self.assertIn("the run's directory cannot be created: ", ours[-1])
        return None

    def test_each(self):
        left = []
        for name, (before, recorded) in SITUATIONS.items():
            with self.subTest(name):
                left.append(self.check(name, before, recorded))
        print("not possible here:", [name for name in left if name])


class Calls(Launcher):
    """System calls of the launcher's main thread, from its main() on."""

    LAST_RUN = "print(len(open('/etc/passwd', 'rb', buffering=0).read(1)))"

    def setUp(self):
        super().setUp()
        if not shutil.which("strace"):
            self.skipTest("no strace")

    def launched(self, folder, *strace):
        command = [self.program, "run", "--quiet", "--", harness.victim("read_loop"), "1", "500"]
        tally = harness.Tally(os.path.join(folder, "tally"))
        env = dict(self.environment(folder), TALLY=tally.path)
        done = subprocess.run(
            ["strace", "-o", os.path.join(folder, "calls"), *strace, *command],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
        return done, tally

    def wait_for_the_end(self):
        """All processes of this namespace but this one end, for the command dies with us."""
        for _ in range(500):
            left = [pid for pid in filter(str.isdigit, os.listdir("/proc")) if pid != "1"]
            if not [pid for pid in left if self.is_alive(pid)]:
                return
            time.sleep(0.02)
        self.fail(f"still there: {left}")

    @staticmethod
    def is_alive(pid):
        try:
            with open(f"/proc/{pid}/stat") as file:
                return file.read().rpartition(")")[2].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False

    def check_kept(self, folder, tally):
        run = os.path.join(folder, "run.zst")
        rows = [row for row in tally.rows() if row.stage == "file_read"]
        least = sum(row.calls for row in rows)
        if least or harness.Trace(run).exists():
            calls = harness.Trace(run).stages()[0].get("file_read", {"calls": 0})["calls"]
            self.assertTrue(least <= calls <= sum(row.begun for row in rows) + 1, (least, calls))

    def check_next(self, folder):
        command = [self.program, "run", "--quiet", "--", PYTHON, "-c", self.LAST_RUN]
        env = self.environment(folder)
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"1\n", b""))
        with open("/proc/sysvipc/shm") as file:
            self.assertEqual(file.readlines()[1:], [])

    def calls_of(self, folder):
        """("read", 3) is the third read."""
        self.launched(folder)
        seen, found = collections.Counter(), []
        with open(os.path.join(folder, "calls")) as file:
            for line in file:
                name = re.match(r"\w+(?=\()", line)
                if name:
                    seen[name[0]] += 1
                    found.append((name[0], seen[name[0]]))
        return found[found.index(("getrandom", 1)) :]  # the dynamic linker's own are before it

    def test_killed(self):
        """Completed calls are kept, nothing goes on, and the next run leaves no memory."""
        calls, ways = self.calls_of(self.subfolder("whole")), collections.Counter()
        for name, number in calls[::STEP]:
            folder = self.subfolder(f"{name}-{number}")
            with self.subTest(call=name, number=number):
                done, tally = self.launched(folder, f"-einject={name}:signal=KILL:when={number}")
                self.wait_for_the_end()
                self.check_kept(folder, tally)
                self.check_next(folder)
                ways[done.returncode] += 1
        print(f"{len(calls)} calls, statuses: {dict(ways)}")

    def test_failed(self):
        """The command does as by hand, and is recorded or a line says why not."""
        calls = self.calls_of(self.subfolder("whole"))
        calls = [call for call in calls if call[0] not in CANNOT_FAIL]
        for name, number in calls[STEP // 2 :: STEP]:
            folder = self.subfolder(f"{name}-{number}")
            with self.subTest(call=name, number=number):
                done, tally = self.launched(folder, f"-einject={name}:error=ENOMEM:when={number}")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, rb"^sum \d+\n$")
                if b"COMMAND runs unrecorded" not in done.stderr:
                    self.check_kept(folder, tally)


def apart():
    """All of this in namespaces of its own, where nobody else's processes and memory are."""
    if os.getpid() != 1:
        rights = [] if os.geteuid() == 0 else ["-Ur"]
        unshare = ["unshare", *rights, "-mipf", "--mount-proc", "--kill-child"]
        if subprocess.run([*unshare, "true"], stderr=subprocess.DEVNULL).returncode:
            print("no namespaces here")
            sys.exit(harness.SKIP)
        os.execvp("unshare", [*unshare, sys.executable, *sys.argv])


if __name__ == "__main__":
    apart()
    sys.argv = [word for word in sys.argv if word != "each"]
    harness.main()
