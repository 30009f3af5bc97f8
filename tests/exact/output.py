# SPDX-License-Identifier: Apache-2.0
"""Where the run goes: missing, full, read-only, linked, shared, removed folders; what it holds."""

import os
import shutil
import subprocess
import time

import harness
from harness import victim


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
        for path in ("/dev/null/run.zst", "/proc/run.zst", "/sys/kernel/run.zst", "/dev/null"):
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
        self.assertFalse(os.path.exists("/dev/null-2"), "a folder beside the device")

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

    def test_folder_that_is_there_by_itself(self):
        """`.` and `..` name a folder to put the run into, not a run."""
        folder = self.subfolder("dots")
        for number, output in enumerate((".", "..", "./")):
            place = os.path.join(folder, str(number), "cwd")
            os.makedirs(place)
            env = harness.traced_environment(folder)
            env["STAGEPROF_OUTPUT"] = output
            harness.Tally(env["TALLY"])
            command = [victim("read_loop"), "1", "1000"]
            subprocess.run(command, cwd=place, env=env, check=True, stdout=subprocess.DEVNULL)
            trace = harness.Trace(os.path.join(place, output, "run.zst"))
            self.assertEqual(trace.stages()[0]["file_read"]["calls"], 1000, output)

    def test_link_is_not_followed(self):
        folder = self.subfolder("linked")
        trap = self.subfolder("trap")
        os.symlink(trap, os.path.join(folder, "run.zst"))
        outcome = self.execute([victim("read_loop"), "1", "1000"], folder)
        self.assertEqual(outcome.done.returncode, 0)
        self.assertEqual(os.listdir(trap), [])
        beside = harness.Trace(os.path.join(folder, "run-2.zst"))
        self.assertEqual(beside.stages()[0]["file_read"]["calls"], 1000)

    def test_no_secrets(self):
        """Neither the environment nor the command line is in the trace, unless asked for."""
        canary = "canary-8f3a91"
        argv = [victim("aliases"), canary + "-word"]
        outcome = self.both(*argv, env={"SECRET": canary})
        self.assertNotIn(canary.encode(), outcome.trace.everything())
        asked = self.both(
            *argv, name="asked-", env={"SECRET": canary + "!", "STAGEPROF_COMMAND": "1"}
        )
        self.assertIn(canary.encode() + b"-word", asked.trace.everything())
        self.assertNotIn(canary.encode() + b"!", asked.trace.everything())

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


class Namespaces(harness.Case):
    def test_same_pid_twice(self):
        """Two containers that share an output folder: nothing of one overwrites the other's."""
        probe = subprocess.run(["unshare", "-Urpf", "true"], stderr=subprocess.DEVNULL)
        if probe.returncode != 0:
            self.skipTest("unshare -Urpf is not allowed here")
        script = 'for i in 1 2 3; do (mkdir $i; cd $i; unshare -Urpf "$0" 1 1000) & done; wait'
        outcome = self.both("/bin/sh", "-c", script, victim("read_loop"))
        self.assert_valid(outcome.trace)
        stages, run = outcome.trace.stages()
        self.assertEqual(stages["file_read"]["calls"], 3000)
        loops = [
            (thread["pid"], thread["read_bytes"])
            for thread in outcome.trace.report("threads", "--limit=all")["threads"]
            if thread["name"] == "read_loop"
        ]
        self.assertEqual(len(loops), 3, loops)
        self.assertEqual(len(set(loops)), 1, "the same process number and work")


if __name__ == "__main__":
    harness.main()
