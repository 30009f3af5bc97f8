# SPDX-License-Identifier: Apache-2.0
"""Runs in unusual places, and reports of files that are strange but sound."""

import os
import re
import shutil
import struct
import subprocess
import sys

import harness
from harness import victim

FREE_FRAME = 0x184D2A52  # trace/format.h: SP_FRAME_FREE


class Places(harness.Case):
    def test_removed_working_directory(self):
        script = 'mkdir gone; cd gone; rmdir ../gone; exec "$0" -c "print(len(open(\'/etc/passwd\').read()) > 0)"'
        outcome = self.both(
            "/bin/sh", "-c", script, sys.executable, notes=1, env={"STAGEPROF_OUTPUT": "run.zst"}
        )
        self.assertEqual(outcome.done.stdout, b"True\n")

    def mounted(self, mount, folder, *argv):
        """The victim in a mount namespace of its own, where `mount` has been run."""
        probe = subprocess.run(["unshare", "-Urm", "true"], stderr=subprocess.DEVNULL)
        if probe.returncode:
            self.skipTest("unshare -Urm is not allowed here")
        env = {"LIBRARY": harness.environment("STAGEPROF_TEST_LIB")}
        full = harness.traced_environment(folder, env)
        del full["LD_PRELOAD"]
        tally = harness.Tally(full["TALLY"])
        script = f'{mount} || exit 77; LD_PRELOAD=$LIBRARY "$@"'
        done = subprocess.run(
            ["unshare", "-Urm", "sh", "-c", script, "sh", *argv],
            cwd=folder,
            env=full,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=120,
        )
        if done.returncode == 77:
            self.skipTest("not possible here: " + mount)
        trace = harness.Trace(os.path.join(folder, "run.zst"))
        return harness.Outcome(folder, trace, tally, done)

    def test_small_shared_memory(self):
        argv = [victim("fork_workers"), "10", "200"]
        mount = "mount -t tmpfs -o size=64k tmpfs /dev/shm"
        traced = self.mounted(mount, self.subfolder("small"), *argv)
        self.assert_same(self.execute(argv, self.subfolder("plain"), traced=False), traced)
        self.assert_exact(traced)

    def test_no_proc(self):
        """Without /proc files have no names, but they are counted."""
        argv = [victim("read_loop"), "2", "20000"]
        traced = self.mounted("mount -t tmpfs none /proc", self.subfolder("bare"), *argv)
        self.assert_same(self.execute(argv, self.subfolder("plain"), traced=False), traced, notes=1)
        self.assert_valid(traced.trace)
        stages, run = traced.trace.stages()
        self.assertEqual(run["events_lost"], 0)
        self.assert_stages(traced.rows(), stages, "run")

    def test_time_namespace(self):
        """A child whose monotonic clock is a day ahead is beside its parent on one line of time."""
        script = (
            "import subprocess; subprocess.run(['unshare', '-UrT', '--monotonic', '90000'] + [{}])"
        )
        child = repr(sys.executable) + ", '-c', 'open(\"/etc/passwd\").read()'"
        probe = subprocess.run(["unshare", "-UrT", "true"], stderr=subprocess.DEVNULL)
        if probe.returncode:
            self.skipTest("unshare -UrT is not allowed here")
        outcome = self.both(sys.executable, "-c", script.format(child))
        processes = outcome.trace.report("processes")["processes"]
        self.assertEqual(len(processes), 2)
        self.assertLess(outcome.trace.report("summary")["run"]["wall_ns"], 3600e9)

    def test_fuse(self):
        """FUSE has no shared mapping to rely on: files are written, and the report says so."""
        if not shutil.which("bindfs"):
            self.skipTest("no bindfs")
        under, mount = self.subfolder("under"), self.subfolder("mount")
        done = subprocess.run(["bindfs", under, mount], stderr=subprocess.PIPE)
        if done.returncode:
            self.skipTest("FUSE: " + done.stderr.decode().strip())
        self.addCleanup(subprocess.run, ["umount", "-l", mount])
        output = os.path.join(mount, "run.zst")
        outcome = self.both(
            victim("fork_workers"), "4", "3000", notes=1, env={"STAGEPROF_OUTPUT": output}
        )
        outcome.trace.path = output
        self.assert_valid(outcome.trace)
        # what a killed thread had not written yet is gone: the weaker promise
        stages, _ = outcome.trace.stages()
        rows = [row for row in outcome.rows() if row.stage == "file_read"]
        self.assertGreater(stages["file_read"]["calls"], 3000)
        self.assertLessEqual(stages["file_read"]["calls"], sum(row.begun for row in rows))
        threads = outcome.trace.report("threads", "--limit=all")["threads"]
        self.assertTrue(threads)
        self.assertIn("written", self.summary(output), "the weaker mode is not named")

    def summary(self, path):
        command = [harness.environment("STAGEPROF_TEST_REPORT"), "summary", path]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout.decode()


class Reading(harness.Case):
    def recorded(self):
        outcome = self.execute([victim("read_loop"), "2", "20000"], self.subfolder("run"))
        self.assert_exact(outcome)
        return outcome.trace

    def test_beyond_four_gigabytes(self):
        """A hole of 5 GiB, in FREE frames, after each file's header: the totals stay."""
        trace = self.recorded()
        expected = trace.stages()
        for path in trace.files():
            if os.path.basename(path).startswith("0-run-"):
                continue
            with open(path, "rb") as file:
                data = file.read()
            head = 8 + struct.unpack_from("<I", data, 4)[0]
            free = struct.pack("<II", FREE_FRAME, (1 << 30) - 8)
            with open(path, "wb") as file:
                file.write(data[:head])
                for number in range(5):
                    file.seek(head + (number << 30))
                    file.write(free)
                file.seek(head + (5 << 30))
                file.write(data[head:])
            self.assertGreater(os.stat(path).st_size, 5 << 30)
        self.assertEqual(trace.stages(), expected)

    def test_opens_nothing_else(self):
        """Paths in a trace are text: the report opens its trace and nothing that it names."""
        if not shutil.which("strace"):
            self.skipTest("no strace")
        trace = self.recorded()
        log = os.path.join(self.folder, "strace")
        views = ("summary", "files", "threads", "dump", "stages", "processes", "stacks")
        for view in views:
            done = subprocess.run(
                ["strace", "-f", "-o", log, "-e", "trace=open,openat,openat2,creat,execve,connect"]
                + [harness.environment("STAGEPROF_TEST_REPORT"), view, trace.path],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            with open(log) as lines:
                calls = re.findall(r'(open\w*|creat|execve|connect)\([^"]*"([^"]*)"', lines.read())
            self.assertEqual(sum(call == "execve" for call, _ in calls), 1)
            self.assertTrue(any(path.startswith(trace.path) for _, path in calls), view)
            own = os.path.join(self.folder, "run", "cwd")
            named = [path for _, path in calls if path.startswith(own) or "in.dat" in path]
            self.assertEqual(named, [], f"{view}: {done.stderr}")


class Privacy(harness.Case):
    FOLDER, NAME = "canary-folder-51", "canary-name-77.dat"
    SETTINGS = {
        "full": (True, True),
        "basename": (False, True),
        "hash": (False, False),
        "none": (False, False),
    }

    def test_paths(self):
        """Nothing of a path that was to be left out is anywhere in the run, and the work is
        accounted for all the same."""
        script = (
            "import os, sys, mmap, shutil\n"
            f"os.makedirs('{self.FOLDER}/sub', exist_ok=True)\n"
            f"path = os.path.abspath('{self.FOLDER}/sub/{self.NAME}')\n"
            "with open(path, 'wb') as file: file.write(bytes(100000))\n"
            "for i in range(20):\n"
            "    with open(path, 'rb') as file: file.read()\n"
            "with open(path, 'rb') as file: mmap.mmap(file.fileno(), 0, prot=1)[:10]\n"
            "os.listdir(os.path.dirname(path)); os.stat(path)\n"
            "shutil.copyfile(path, path + '.copy')\n"
            f"sys.path.insert(0, '{self.FOLDER}')\n"
            f"open('{self.FOLDER}/canary_module.py', 'w').write('value = 1')\n"
            "import canary_module\n"
        )
        reads = set()
        for setting, (folder, name) in self.SETTINGS.items():
            with self.subTest(setting=setting):
                outcome = self.both(
                    sys.executable,
                    "-c",
                    script,
                    name=setting,
                    env={"STAGEPROF_PATHS": setting, "STAGEPROF_FUNCTIONS": "json:dumps"},
                )
                data = outcome.trace.everything()
                self.assertEqual(self.FOLDER.encode() in data, folder, "the folder's name")
                self.assertEqual(b"canary-name" in data, name, "the file's name")
                stages, _ = outcome.trace.stages()
                self.assertGreaterEqual(stages["file_read"]["calls"], 20)
                kinds = ("file_read", "import_read", "unknown_read")
                reads.add(sum(stages.get(kind, {"calls": 0})["calls"] for kind in kinds))
        self.assertEqual(len(reads), 1, "what is read does not depend on the names kept")

    def test_same_file_same_hash(self):
        """One file is one row in all processes of a run; another run has another key."""
        script = "for i in 1 2 3; do $0 2 1000; done; exec $0 2 1000"
        names = set()
        for number in range(2):
            outcome = self.both(
                "/bin/sh",
                "-c",
                script,
                victim("fork_workers"),
                name=str(number),
                env={"STAGEPROF_PATHS": "hash"},
            )
            files = outcome.trace.report("files", "--limit=all")["files"]
            read = [file["name"] for file in files if file["name"].endswith(".dat")]
            self.assertEqual(len(read), 1, files)
            self.assertRegex(read[0], r"^[0-9a-f]{16}\.dat$")
            names.add(read[0])
        self.assertEqual(len(names), 2)

    def test_key_is_not_in_the_run(self):
        """STAGEPROF_RUN carries it to children; the run's files do not."""
        script = "open('/etc/passwd').read(); import os; print(os.environ['STAGEPROF_RUN'])"
        folder = self.subfolder("run")
        outcome = self.execute([sys.executable, "-c", script], folder)
        token, key = outcome.done.stdout.decode().split(":")[:2]
        self.assertEqual((len(token), len(key)), (32, 32))
        said = outcome.trace.everything()
        self.assertIn(token.encode(), said)
        self.assertNotIn(key.encode(), said)
        for half in key[:16], key[16:]:
            self.assertNotIn(bytes.fromhex(half)[::-1], said)

    def test_stacks(self):
        """The libraries on a stack are files, too."""
        program = os.path.join(self.folder, "canary-program")
        shutil.copy(victim("read_loop"), program)
        for setting in ("full", "none"):
            env = {"STAGEPROF_STACKS": "file_read>1ns", "STAGEPROF_PATHS": setting}
            outcome = self.both(program, "1", "100", name=setting, env=env)
            calls = outcome.trace.report("stacks")["slow_calls"]
            self.assertTrue(calls)
            for call in calls:
                self.assertEqual("canary-program+0x" in call["frames"], setting == "full", call)

    def test_not_understood(self):
        """A slip of the pen must not give away what was to be kept back."""
        outcome = self.both(
            victim("read_loop"), "1", "100", notes=1, env={"STAGEPROF_PATHS": "hashed"}
        )
        self.assertEqual(len(outcome.notes()), 1)
        self.assertNotIn(b"in.dat", outcome.trace.everything())


if __name__ == "__main__":
    harness.main()
