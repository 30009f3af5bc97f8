# SPDX-License-Identifier: Apache-2.0
"""The host goes on as if nobody were there: errno, descriptor numbers, files, limits."""

import json
import os
import resource
import subprocess
import sys

import harness
from harness import victim

MIB = 1 << 20


def limited(what, value):
    return lambda: resource.setrlimit(what, (value, value))


READS_WITHOUT_RIGHTS = """
import os, threading
def read():
    descriptor = os.open("/etc/passwd", os.O_RDONLY)
    for _ in range(1000):
        os.pread(descriptor, 1, 0)
os.umask(0o777)
for _ in range(3):
    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
if os.fork() == 0:
    read()
    os._exit(0)
os.wait()
"""


KILLED_AMID_THREADS = """
import os, threading
def read():
    descriptor = os.open("/etc/passwd", os.O_RDONLY)
    for i in range(20000):
        os.pread(descriptor, 1, i % 7)
threads = [threading.Thread(target=read) for _ in range(6)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
read()
os.kill(os.getpid(), 9)
"""


class Unchanged(harness.Case):
    def test_errno(self):
        self.assert_exact(self.both(victim("errno_kept")))

    def test_descriptor_numbers(self):
        self.assert_exact(self.both(victim("fd_parity")))

    def test_interrupted_and_short(self):
        self.assert_exact(self.both(victim("interrupted")))

    def test_before_and_after_main(self):
        self.assert_exact(self.both(victim("early_calls")))

    def test_close_everything(self):
        for how in ("close", "closefrom", "close_range"):
            with self.subTest(how=how):
                outcome = self.both(victim("close_all"), how, name=how)
                self.assert_exact(outcome)
                for number in range(4):
                    name = f"out-{number}.txt"
                    with open(os.path.join(outcome.folder, "cwd", name), encoding="utf-8") as file:
                        self.assertEqual(
                            file.read(),
                            "".join(f"file {number} round {r}\n" for r in range(200)),
                            name,
                        )

    def test_closed_standard_streams(self):
        outcome = self.both("/bin/sh", "-c", '"$0" 1 5000 <&- 2>&-', victim("read_loop"))
        self.assert_exact(outcome)

    def test_strict_seccomp(self):
        """The kernel takes the clock away with the calls: what follows is named, not counted."""
        outcome = self.both(victim("seccomp_strict"))
        self.assertEqual(outcome.done.returncode, 21)
        self.assertIn("strict seccomp", json.dumps(outcome.trace.report("summary")))

    def test_files_are_the_owners(self):
        outcome = self.both(victim("read_loop"), "1", "1000", preexec_fn=lambda: os.umask(0))
        self.assertEqual(os.stat(outcome.trace.path).st_mode & 0o777, 0o700)
        for name in outcome.trace.files():
            self.assertEqual(os.stat(name).st_mode & 0o777, 0o600, name)

    @harness.unittest.skipUnless(os.geteuid() == 0, "drops root's right to open all files")
    def test_umask_that_forbids_all(self):
        """The owner of a run can read it, and its later threads and processes write to it."""
        folder = self.subfolder("umask")
        os.chmod(self.folder, 0o711)
        os.chmod(folder, 0o777)
        command = ["setpriv", "--reuid=65534", "--clear-groups", sys.executable, "-c"]
        if subprocess.run(command[:3] + ["true"]).returncode:
            self.skipTest("no setpriv")
        outcome = self.execute([*command, READS_WITHOUT_RIGHTS], folder)
        self.assertEqual((outcome.done.returncode, outcome.notes()), (0, []))
        self.assertEqual(os.stat(outcome.trace.path).st_mode & 0o777, 0o700)
        for name in outcome.trace.files():
            self.assertEqual(os.stat(name).st_mode & 0o777, 0o600, name)
        self.assertEqual(harness.reads_by_name(outcome.trace)["passwd"][0], 4 * 1000)


class Limits(harness.Case):
    def test_few_descriptors(self):
        outcome = self.both(
            victim("read_loop"),
            "2",
            "60000",
            notes=1,
            preexec_fn=limited(resource.RLIMIT_NOFILE, 16),
        )
        self.assert_counted(outcome)

    def test_no_descriptor_left(self):
        outcome = self.both(
            victim("exit_ways"), "exit", notes=1, preexec_fn=limited(resource.RLIMIT_NOFILE, 4)
        )
        self.assert_counted(outcome)

    def test_file_size(self):
        outcome = self.both(
            victim("read_loop"),
            "2",
            "900000",
            notes=1,
            preexec_fn=limited(resource.RLIMIT_FSIZE, 1 * MIB),
        )
        self.assertEqual(outcome.done.returncode, 0)
        self.assert_counted(outcome)
        self.assertGreater(outcome.trace.stages()[1]["events_lost"], 0, "the limit was not met")

    def test_no_file_at_all(self):
        outcome = self.both(
            victim("many_threads"),
            "20",
            "10",
            notes=1,
            preexec_fn=limited(resource.RLIMIT_FSIZE, 16384),
        )
        self.assert_counted(outcome)

    def test_not_a_byte_of_a_file(self):
        """Where no file may have a byte, and where the last events of a killed process would make a
        file that is too long."""
        read = [sys.executable, "-c", "print(len(open('/etc/hostname').read()) > 0)"]
        for limit in 0, 100, 4096, 20000:
            folder = self.subfolder(str(limit))
            limited_read = ["prlimit", f"--fsize={limit}", *read]
            outcome = self.execute(limited_read, self.subfolder(f"{limit}-alone"))
            self.assertEqual((outcome.done.returncode, outcome.done.stdout), (0, b"True\n"))
            script = 'PYTHON=$1; shift; "$PYTHON" -c "$KILLED"; "$@"'
            argv = ["sh", "-c", script, "sh", sys.executable, *limited_read]
            outcome = self.execute(argv, folder, env={"KILLED": KILLED_AMID_THREADS})
            self.assertEqual((outcome.done.returncode, outcome.done.stdout), (0, b"True\n"))

    def test_address_space(self):
        """From what the victim alone needs and 2.5 MiB for us (the library is 2.1), up to where
        nothing is short."""
        argv = [victim("read_loop"), "1", "200000"]
        least = 8 * MIB
        while self.ends_badly(argv, least):
            least += MIB // 4
        for more in range(2 * MIB + MIB // 2, 6 * MIB, MIB // 4):
            with self.subTest(bytes=least + more):
                limit = limited(resource.RLIMIT_AS, least + more)
                outcome = self.both(*argv, notes=1, name=f"{more}-", preexec_fn=limit)
                self.assertEqual(outcome.done.returncode, 0)
                self.assert_counted(outcome)

    def ends_badly(self, argv, nbytes):
        folder = self.subfolder(f"least-{nbytes}")
        limit = limited(resource.RLIMIT_AS, nbytes)
        alone = self.execute(argv, folder, traced=False, may_fail=True, preexec_fn=limit)
        return alone.done.returncode != 0


if __name__ == "__main__":
    harness.main()
