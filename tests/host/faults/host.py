# SPDX-License-Identifier: Apache-2.0
"""Programs that arrange themselves strangely: sandboxes, daemons, coroutines, dropped rights."""

import json
import os
import resource
import shutil
import subprocess

import harness
from harness import victim


def limited(what, value):
    return lambda: resource.setrlimit(what, (value, value))


class Sandboxes(harness.Case):
    def test_filter_that_kills(self):
        """Behind a filter no system call of ours is made: what that costs is lost and counted."""
        for name, arguments in (("prctl", ()), ("syscall", ("syscall",))):
            with self.subTest(by=name):
                outcome = self.both(victim("sandboxed"), *arguments, name=name, notes=1)
                self.assertEqual(outcome.done.stdout, b"done\n")
                self.assert_counted(outcome)
                self.assertIn("seccomp", json.dumps(outcome.trace.report("summary")))

    def test_no_counter(self):
        outcome = self.both(victim("no_counter"), notes=1)
        self.assertEqual(outcome.done.stdout, b"done\n")
        reads = sum(row.calls for row in outcome.rows() if row.stage == "file_read")
        self.assertEqual(outcome.trace.stages()[0]["file_read"]["calls"], reads)
        self.assertIn("cycle counter", json.dumps(outcome.trace.report("summary")))

    def test_another_user(self):
        self.drop("user")

    def test_another_root(self):
        self.drop("root")

    def test_run_beside(self):
        """A report of either user's folder has the processes of both, where it may read them."""
        if os.geteuid() or not shutil.which("setpriv"):
            self.skipTest("needs root and setpriv")
        os.chmod(self.folder, 0o777)
        words = "setpriv --reuid 65534 --clear-groups cat /etc/hostname"
        script = f"read x < /etc/hostname; exec {words}"
        library = shutil.copy(harness.environment("STAGEPROF_TEST_LIB"), self.folder)
        env = harness.traced_environment(self.folder, {"STAGEPROF_CHILDREN": "all"})
        env["LD_PRELOAD"] = library
        quiet = {"stdout": subprocess.DEVNULL}
        subprocess.run(["sh", "-c", script], cwd=self.folder, env=env, check=True, **quiet)
        shutil.copytree(os.path.join(self.folder, "run.zst"), os.path.join(self.folder, "x.zst"))
        os.symlink("run.zst", os.path.join(self.folder, "newest.zst"))
        alone = self.images("x.zst")[0]
        both, said = self.images("run.zst", "run-2.zst")
        self.assertGreater(both, alone)
        self.assertNotRegex(said, "SP23[34]")
        for path in ("run.zst", "run-2.zst", "./run.zst/", "newest.zst"):
            with self.subTest(path=path):
                images, said = self.images(path)
                self.assertEqual(images, both)
                self.assertRegex(said, r"run(-2)?\.zst: it is of the same run .*\[SP233\]")
        images, said = self.images("run-2.zst", user=65534)
        self.assertEqual(images, both - alone)
        self.assertRegex(said, r"run\.zst: it changed during this run, .*\[SP234\]")

    def images(self, *paths, user=None):
        """The process images of a report, and what it says beside them."""
        command = [harness.environment("STAGEPROF_TEST_REPORT"), "processes", "--format=json"]
        if user:
            command[0] = shutil.copy(command[0], self.folder)
        done = subprocess.run(
            [*command, *paths], cwd=self.folder, user=user, capture_output=True, check=True
        )
        return len(json.loads(done.stdout)["processes"]), done.stderr.decode()

    def drop(self, what):
        """The run's files are out of reach from then on."""
        os.chmod(self.folder, 0o755)
        outcome = self.both(victim("drop_rights"), what, notes=1)
        self.assert_counted(outcome)
        self.assertGreater(outcome.trace.stages()[0]["file_read"]["calls"], 100)


class Descriptors(harness.Case):
    def test_sent_through_a_socket(self):
        self.assert_exact(self.both(victim("sent_descriptors")))

    def test_standard_streams_closed(self):
        """A host's files that became 0, 1 and 2 hold its own words alone, even where we have
        something to say."""
        for output in ("run.zst", "/proc/none/run.zst"):
            with self.subTest(output=output):
                name = "good-" if output == "run.zst" else "bad-"
                argv = ["/bin/sh", "-c", 'exec "$0" <&- >&- 2>&-', victim("closed_streams")]
                outcome = self.both(*argv, name=name, env={"STAGEPROF_OUTPUT": output})
                self.assertEqual(outcome.done.returncode, 5)
                for number in range(3):
                    path = os.path.join(outcome.folder, "cwd", f"out-{number}.txt")
                    with open(path, "rb") as file:
                        self.assertEqual(file.read(), b"own words\n")


class Daemons(harness.Case):
    def test_daemon(self):
        outcome = self.both(victim("daemonised"))
        rows = outcome.rows()
        reads = sum(row.calls for row in rows if row.stage == "file_read")
        stages, run = outcome.trace.stages()
        self.assertEqual((stages["file_read"]["calls"], run["events_lost"]), (reads, 0))
        self.assertEqual(stages["file_write"]["calls"], 500)


class Stacks(harness.Case):
    def test_coroutines(self):
        self.assert_exact(self.both(victim("contexts")))

    def test_small_main_stack(self):
        """The main thread's own stack is 192 KiB."""
        limit = limited(resource.RLIMIT_STACK, 192 * 1024)
        outcome = self.both(victim("read_loop"), "2", "50000", preexec_fn=limit)
        self.assert_exact(outcome)

    def test_no_more_tasks(self):
        """No thread can be cloned, ours neither: files are made in place."""
        if os.getuid():
            self.skipTest("needs root, to be another user whose tasks are counted from none")
        os.chmod(self.folder, 0o777)

        def nobody():
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

        outcome = None
        for traced in (False, True):
            folder = self.subfolder(f"traced-{traced}")
            os.makedirs(os.path.join(folder, "cwd"))
            harness.Tally(os.path.join(folder, "tally"))
            for path in (folder, os.path.join(folder, "cwd"), os.path.join(folder, "tally")):
                os.chmod(path, 0o777)
            last, outcome = outcome, self.execute_as(nobody, folder, traced)
        self.assert_same(last, outcome)
        self.assert_exact(outcome)

    def execute_as(self, become, folder, traced):
        env = harness.traced_environment(folder)
        if not traced:
            del env["LD_PRELOAD"], env["STAGEPROF_OUTPUT"]
        done = subprocess.run(
            [victim("read_loop"), "1", "50000"],
            cwd=os.path.join(folder, "cwd"),
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=become,
            timeout=60,
        )
        tally = object.__new__(harness.Tally)
        tally.path = os.path.join(folder, "tally")
        trace = harness.Trace(os.path.join(folder, "run.zst"))
        return harness.Outcome(folder, trace, tally, done)


class Limits(harness.Case):
    def test_each_limit(self):
        """The limits that no other row makes small: none of them may end a host that lives with it
        alone."""
        small = {
            "MEMLOCK": 0,
            "CORE": 0,
            "SIGPENDING": 0,
            "MSGQUEUE": 0,
            "NICE": 0,
            "RTPRIO": 0,
        }
        for name, value in small.items():
            with self.subTest(limit=name):
                limit = limited(getattr(resource, "RLIMIT_" + name), value)
                argv = [victim("read_loop"), "1", "20000"]
                outcome = self.both(*argv, notes=1, name=f"{name}-", preexec_fn=limit)
                self.assertEqual(outcome.done.returncode, 0)
                self.assert_counted(outcome)


    def test_data(self):
        """From 1 MiB, of which the library's variables are three quarters, to where nothing is
        short."""
        for kib in range(1024, 4097, 512):
            with self.subTest(kib=kib):
                limit = limited(resource.RLIMIT_DATA, kib * 1024)
                argv = [victim("read_loop"), "1", "20000"]
                outcome = self.both(*argv, notes=1, name=f"{kib}-", preexec_fn=limit)
                self.assertEqual(outcome.done.returncode, 0)
                if not outcome.notes():
                    self.assert_counted(outcome)


class Watched(harness.Case):
    """Hosts that another program stops and looks at."""

    STOPS = """
"$0" "$@" & child=$!
while kill -STOP $child 2>/dev/null; do
    kill -CONT $child 2>/dev/null
    sleep 0.005
done
wait $child
"""

    def test_stopped_again_and_again(self):
        argv = ["/bin/sh", "-c", self.STOPS, victim("read_loop"), "2", "200000"]
        self.assert_exact(self.both(*argv))

    def test_strace(self):
        argv = ["strace", "-f", "-o", "/dev/null", victim("read_loop"), "2", "2000"]
        self.needs("strace")
        self.assert_exact(self.both(*argv))

    def test_gdb(self):
        """The words of gdb itself name threads by their addresses, so they are not compared."""
        self.needs("gdb")
        argv = ["gdb", "-nx", "-q", "-batch", "-return-child-result", "-ex", "run", "--args"]
        argv += [victim("read_loop"), "2", "2000"]
        outcome = self.execute(argv, self.subfolder("gdb"))
        self.assertEqual(outcome.done.returncode, 0)
        self.assertIn(b"exited normally", outcome.done.stdout)
        self.assert_exact(outcome)

    def needs(self, program):
        if not shutil.which(program):
            self.skipTest("no " + program)


class Refusals(harness.Case):
    def test_bad_arguments(self):
        """The kernel refuses the same calls with stageprof, because no list and no path is read
        before the call."""
        outcome = self.both(victim("bad_arguments"))
        self.assertEqual(outcome.done.returncode, 0)
        self.assertGreater(len(outcome.done.stdout.splitlines()), 60)


class Clones(harness.Case):
    """Children that have this thread's memory and its thread pointer."""

    def test_parent_waits(self):
        self.assert_exact(self.both(victim("shared_clone"), "vfork"))

    def test_parent_goes_on(self):
        outcome = self.both(victim("shared_clone"), "beside")
        self.assert_exact(outcome)
        self.assertIn("cloned a process", json.dumps(outcome.trace.report("summary")))


class Cancellation(harness.Case):
    def test_asynchronous(self):
        """A thread that may be cut off at any instruction: a call is whole, or cut off and counted.
        """
        outcome = self.both(victim("async_cancel"), str(10 * harness.REPEATS))
        self.assert_valid(outcome.trace)
        stages, run = outcome.trace.stages()
        self.assertEqual(run["events_lost"], 0)
        self.assert_stages(outcome.rows(), stages, "run")
        gaps = {row.begun - row.calls for row in outcome.rows()}
        self.assertEqual(gaps, {0, 1}, "nothing was cut off in a call: the test tests nothing")


class Loading(harness.Case):
    def test_reads_before_relocation_ends(self):
        self.both(victim("ifunc_reader"))

    def test_deep_binding(self):
        """A library that asks libc past us is not seen, and does no harm."""
        library = os.path.join(os.path.dirname(victim("deep_bind")), "libdeep_library.so")
        outcome = self.both(victim("deep_bind"), library)
        self.assertGreaterEqual(outcome.trace.stages()[0]["file_read"]["calls"], 100)


if __name__ == "__main__":
    harness.main()
