# SPDX-License-Identifier: Apache-2.0
"""Beside other preloaded libraries, and in programs that are built otherwise."""

import glob
import os
import shutil
import stat
import subprocess
import sys

import harness
from harness import victim

DEBIAN_ALLOCATORS = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2.0")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "outsider.c")
PROGRAM = """
import ctypes, os, subprocess, threading
def read(n):
    with open("/proc/self/comm") as file:
        for _ in range(n):
            file.seek(0)
            file.read()
threads = [threading.Thread(target=read, args=(50,)) for _ in range(8)]
[thread.start() for thread in threads]
read(50)
[thread.join() for thread in threads]
if os.fork() == 0:
    read(50)
    os._exit(0)
os.wait()
print(subprocess.run(["/bin/echo", "child"], stdout=subprocess.PIPE).stdout)
"""


def debian_library(name):
    found = glob.glob(f"/usr/lib/*-linux-gnu/{name}")
    return found[0] if found else None


class Allocators(harness.Case):
    def beside(self, other, *argv, **options):
        """Before us and after us, against the other alone; returns the last outcome."""
        ours = harness.environment("STAGEPROF_TEST_LIB")
        name = os.path.basename(other)
        env = options.pop("env", {})
        plain = self.execute(
            argv, self.subfolder(name + "-alone"), env={"LD_PRELOAD": other}, **options
        )
        for order, preloads in ("before", f"{other} {ours}"), ("behind", f"{ours} {other}"):
            with self.subTest(library=name, order=order):
                folder = self.subfolder(f"{name}-{order}")
                traced = self.execute(
                    argv, folder, env={"LD_PRELOAD": preloads, **env}, **options
                )
                self.assert_same(plain, traced)
                yield traced

    def test_of_debian(self):
        libraries = [path for path in map(debian_library, DEBIAN_ALLOCATORS) if path]
        if not libraries:
            self.skipTest("none of " + ", ".join(DEBIAN_ALLOCATORS) + " is installed")
        for library in libraries:
            for outcome in self.beside(library, victim("fork_workers"), "10", "200"):
                self.assert_exact(outcome)
            folder_before = self.folder
            self.folder = self.subfolder("python-" + os.path.basename(library))
            for outcome in self.beside(library, sys.executable, "-c", PROGRAM):
                self.assertEqual(outcome.trace.stages()[1]["events_lost"], 0)
            self.folder = folder_before

    def test_that_reads(self):
        library = os.path.join(os.path.dirname(victim("deep_bind")), "libreading_malloc.so")
        for outcome in self.beside(library, sys.executable, "-c", PROGRAM):
            self.assertGreater(outcome.trace.stages()[1]["events_recorded"], 0)

    def test_clock_that_stands_still(self):
        """The recorder measures by the kernel's clock, not by a library's."""
        library = os.path.join(os.path.dirname(victim("deep_bind")), "libstopped_clock.so")
        for clock in "counter", "monotonic":
            folder_before = self.folder
            self.folder = self.subfolder(clock)
            env = {"STAGEPROF_TEST_CLOCK": clock}
            for outcome in self.beside(library, victim("fork_workers"), "4", "500", env=env):
                self.assert_exact(outcome)
                reads = outcome.trace.stages()[0]["file_read"]
                self.assertGreater(reads["total_ns"], reads["calls"])
            self.folder = folder_before

    def test_launcher_whose_clock_stands_still(self):
        """faketime TIME stageprof run COMMAND: the end of the command lies after its begin."""
        clock = os.path.join(os.path.dirname(victim("deep_bind")), "libstopped_clock.so")
        launcher = os.path.join(
            os.path.dirname(harness.environment("STAGEPROF_TEST_REPORT")), "stageprof"
        )
        read = [sys.executable, "-c", "open('/proc/self/comm').read()"]
        command = [launcher, "run", "-q", "-o", "clock.zst", "--", *read]
        env = harness.traced_environment(self.folder, {"LD_PRELOAD": clock})
        subprocess.run(command, cwd=self.folder, env=env, check=True, timeout=60)
        trace = harness.Trace(os.path.join(self.folder, "clock.zst"))
        ends = [end for end in trace.report("summary")["ending"] if end["role"] == "command"]
        self.assertEqual(len(ends), 1)
        self.assertTrue(0 < ends[0]["at_ns"] < 60e9, ends)

    def test_sanitizer(self):
        """AddressSanitizer must come first in the process; it does where the program is linked to
        it."""
        program = os.path.join(self.folder, "sanitized")
        build = ["cc", "-fsanitize=address", "-o", program, SOURCE]
        if not shutil.which("cc") or subprocess.run(build, stderr=subprocess.DEVNULL).returncode:
            self.skipTest("cc -fsanitize=address does not link here")
        asan = subprocess.run(
            ["cc", "-print-file-name=libasan.so"], stdout=subprocess.PIPE, check=True
        ).stdout.decode()
        preloads = f"{os.path.realpath(asan.strip())} {harness.environment('STAGEPROF_TEST_LIB')}"
        env = {"ASAN_OPTIONS": "detect_leaks=0"}
        plain = self.execute([program], self.subfolder("plain"), traced=False, env=env)
        env["LD_PRELOAD"] = preloads
        traced = self.execute([program], self.subfolder("traced"), env=env)
        self.assert_same(plain, traced)
        self.assertEqual(traced.trace.stages()[0]["proc_read"]["calls"], 1000)

    def test_fakeroot(self):
        if not shutil.which("fakeroot"):
            self.skipTest("no fakeroot")
        script = 'id -u; touch a; chown 1:1 a; stat -c %u a; "$0" 2 1000; python3 -c "print(1)"'
        plain = self.execute(
            ["fakeroot", "/bin/sh", "-c", script, victim("read_loop")],
            self.subfolder("plain"),
            traced=False,
        )
        # fakeroot puts itself before what is preloaded; and what a command preloads, before it
        for argv in (
            ["fakeroot", "/bin/sh", "-c", script, victim("read_loop")],
            ["fakeroot", "/bin/sh", "-c", f'LD_PRELOAD="$OURS $LD_PRELOAD" sh -c \'{script}\' "$0"']
            + [victim("read_loop")],
        ):
            with self.subTest(argv=argv):
                folder = self.subfolder("inside" if "OURS" in argv[3] else "outside")
                env = {"OURS": harness.environment("STAGEPROF_TEST_LIB")}
                if "OURS" in argv[3]:
                    env["LD_PRELOAD"] = ""
                traced = self.execute(argv, folder, env=env)
                self.assert_same(plain, traced)
                self.assertEqual(traced.trace.stages()[1]["events_lost"], 0)


class Copies(harness.Case):
    def test_two_copies(self):
        """An installed copy and one of a build tree: a call is recorded once, and a line names the
        recording copy."""
        ours = harness.environment("STAGEPROF_TEST_LIB")
        other = os.path.join(self.folder, "copy.so")
        shutil.copy(ours, other)
        for order in (ours, other), (other, ours), (ours, ours):
            with self.subTest(order=order):
                outcome = self.both(
                    victim("fork_workers"),
                    "4",
                    "500",
                    name="-".join(map(os.path.basename, order)),
                    notes=1,
                    env={"LD_PRELOAD": " ".join(order)},
                )
                self.assert_exact(outcome)
                if order[0] != order[1]:
                    self.assertIn(order[0], outcome.notes()[0])


class Outsiders(harness.Case):
    def built(self, compiler, *options):
        program = os.path.join(self.folder, "-".join([compiler, *options]).replace("/", "_"))
        if not shutil.which(compiler):
            return None
        done = subprocess.run(
            [compiler, *options, "-o", program, SOURCE], stderr=subprocess.PIPE, timeout=60
        )
        return program if done.returncode == 0 else None

    def test_built_otherwise(self):
        ways = [("cc", "-static"), ("musl-gcc",), ("musl-gcc", "-static"), ("cc", "-m32")]
        missing = []
        for way in ways:
            program = self.built(*way)
            if not program:
                missing.append(" ".join(way))
                continue
            with self.subTest(way=way):
                self.check_outsider(way, program)
        if missing:
            print("not built here:", ", ".join(missing))
        if len(missing) == len(ways):
            self.skipTest("nothing could be built: " + ", ".join(missing))

    def check_outsider(self, way, program):
        name = os.path.basename(program)
        plain = self.execute([program], self.subfolder(name + "-plain"), traced=False)
        traced = self.execute([program], self.subfolder(name + "-traced"))
        self.assertEqual(plain.done.returncode, 3)
        self.assertEqual(
            (traced.done.returncode, traced.done.stdout), (3, plain.done.stdout), traced.done.stderr
        )
        said = traced.done.stderr.decode()
        if "-m32" in way:
            self.assertIn("wrong ELF class", said)
            self.assertEqual(len(said.splitlines()), 1, said)
        elif way == ("musl-gcc",):
            # musl's own loader takes the library, and has to find every name it asks for
            self.assertIn("another libc than glibc", said)
            self.assertEqual(len(said.splitlines()), 1, said)
            self.assertFalse(traced.trace.exists())
        else:
            self.assertEqual(said, "")
            self.assertFalse(traced.trace.exists())

    def test_set_uid(self):
        """The loader drops what another user preloads; nothing is written as the owner."""
        if os.getuid():
            self.skipTest("needs root, to make a set-uid program of it")
        program = self.built("cc")
        os.chmod(self.folder, 0o755)
        os.chmod(program, 0o755 | stat.S_ISUID)
        mounted = os.statvfs(self.folder).f_flag & os.ST_NOSUID
        if mounted:
            self.skipTest("the file system does not honour set-uid")

        def nobody():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

        folder = self.subfolder("traced")
        os.chmod(folder, 0o777)
        done = subprocess.run(
            [program],
            env=harness.traced_environment(folder),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=nobody,
            timeout=60,
        )
        self.assertEqual((done.returncode, done.stdout), (3, b"1\n"), done.stderr)
        self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    harness.main()
