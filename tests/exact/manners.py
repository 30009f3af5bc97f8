"""The host goes on as if nobody were there: errno, descriptors, files, limits, full disks."""

import os
import resource
import shutil
import subprocess
import time

import harness
from harness import victim

MIB = 1 << 20


def limited(what, value):
    return lambda: resource.setrlimit(what, (value, value))


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
        outcome = self.both(victim("seccomp_strict"), notes=1)
        self.assertEqual(outcome.done.returncode, 21)
        self.assert_counted(outcome)

    def test_files_are_the_owners(self):
        outcome = self.both(victim("read_loop"), "1", "1000", preexec_fn=lambda: os.umask(0))
        self.assertEqual(os.stat(outcome.trace.path).st_mode & 0o777, 0o700)
        for name in outcome.trace.files():
            self.assertEqual(os.stat(name).st_mode & 0o777, 0o600, name)


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

    def test_address_space(self):
        """From what the victim alone needs and 2 MiB for us, up to where nothing is short."""
        argv = [victim("read_loop"), "1", "200000"]
        least = 8 * MIB
        while self.ends_badly(argv, least):
            least += MIB // 4
        for more in range(2 * MIB, 6 * MIB, MIB // 4):
            with self.subTest(bytes=least + more):
                limit = limited(resource.RLIMIT_AS, least + more)
                outcome = self.both(*argv, notes=1, name=f"{more}-", preexec_fn=limit)
                self.assertEqual(outcome.done.returncode, 0)
                self.assert_counted(outcome)

    def ends_badly(self, argv, nbytes):
        folder = self.subfolder(f"least-{nbytes}")
        limit = limited(resource.RLIMIT_AS, nbytes)
        return self.execute(argv, folder, traced=False, preexec_fn=limit).done.returncode != 0


class Output(harness.Case):
    def test_missing_folder(self):
        outcome = self.both(
            victim("read_loop"),
            "1",
            "5000",
            notes=1,
            env={"STAGEPROF_OUTPUT": os.path.join(self.folder, "a", "b", "run.zst")},
        )
        if not os.path.exists(os.path.join(self.folder, "a", "b", "run.zst")):
            self.assertEqual(len(outcome.notes()), 1)

    def test_unusable_folder(self):
        for path in ("/dev/null/run.zst", "/proc/run.zst", "/sys/kernel/run.zst"):
            with self.subTest(path=path):
                outcome = self.both(
                    victim("read_loop"),
                    "2",
                    "5000",
                    notes=1,
                    name=path.replace("/", "-"),
                    env={"STAGEPROF_OUTPUT": path},
                )
                self.assertEqual(len(outcome.notes()), 1)

    def test_earlier_run_is_kept(self):
        folder = self.subfolder("cwd-default")
        for _ in range(3):
            env = harness.traced_environment(folder)
            del env["STAGEPROF_OUTPUT"]
            harness.Tally(os.path.join(folder, "tally"))
            subprocess.run(
                [victim("read_loop"), "1", "1000"],
                cwd=folder,
                env=env,
                check=True,
                stdout=subprocess.DEVNULL,
            )
        for name in ("run.zst", "run-2.zst", "run-3.zst"):
            self.assertEqual(
                harness.Trace(os.path.join(folder, name)).stages()[0]["file_read"]["calls"], 1000
            )

    def test_removed_while_running(self):
        folder = self.subfolder("removed")
        tally = harness.Tally(os.path.join(folder, "tally"))
        env = harness.traced_environment(folder)
        process = subprocess.Popen(
            [victim("read_loop"), "2", "2000000"],
            cwd=folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        while not sum(row.calls for row in tally.rows()) > 1000:
            time.sleep(0.001)
        shutil.rmtree(os.path.join(folder, "run.zst"), ignore_errors=True)
        out, err = process.communicate(timeout=60)
        plain = self.execute(
            [victim("read_loop"), "2", "2000000"], self.subfolder("plain"), traced=False
        )
        self.assertEqual((process.returncode, out), (0, plain.done.stdout))
        self.assertLessEqual(len(err.splitlines()), 1, err)

    def in_namespace(self, script, folder, *argv):
        """Runs the shell script in a mount namespace of its own, the victim's command in "$@"."""
        probe = subprocess.run(["unshare", "-Urm", "true"], stderr=subprocess.DEVNULL)
        if probe.returncode != 0:
            self.skipTest("unshare -Urm is not allowed here")
        env = harness.traced_environment(folder)
        library = env.pop("LD_PRELOAD")
        tally = harness.Tally(env["TALLY"])
        env.update(LIBRARY=library, STAGEPROF_OUTPUT=os.path.join(folder, "mount", "run.zst"))
        os.makedirs(os.path.join(folder, "mount"))
        done = subprocess.run(
            ["unshare", "-Urm", "sh", "-c", script, "sh", *argv],
            cwd=folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=120,
        )
        return harness.Outcome(folder, harness.Trace(os.path.join(folder, "run.zst")), tally, done)

    def test_full_disk(self):
        script = (
            "mount -t tmpfs -o size=1m,mode=755 tmpfs mount || exit 77; "
            'LD_PRELOAD=$LIBRARY "$@"; status=$?; cp -r mount/run.zst .; exit $status'
        )
        argv = [victim("read_loop"), "3", "1000000"]
        traced = self.in_namespace(script, self.subfolder("full"), *argv)
        if traced.done.returncode == 77:
            self.skipTest("tmpfs cannot be mounted here")
        plain = self.execute(argv, self.subfolder("plain"), traced=False)
        self.assert_same(plain, traced, notes=1)
        self.assert_counted(traced)
        self.assertGreater(traced.trace.stages()[1]["events_lost"], 0, "the disk was never full")

    def test_read_only(self):
        script = (
            "mount -t tmpfs -o size=1m,ro tmpfs mount || exit 77; " 'LD_PRELOAD=$LIBRARY exec "$@"'
        )
        argv = [victim("read_loop"), "2", "5000"]
        traced = self.in_namespace(script, self.subfolder("read-only"), *argv)
        if traced.done.returncode == 77:
            self.skipTest("tmpfs cannot be mounted here")
        self.assert_same(self.execute(argv, self.subfolder("plain"), traced=False), traced, notes=1)
        self.assertEqual(len(traced.notes()), 1)


if __name__ == "__main__":
    harness.main()
