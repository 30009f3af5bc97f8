# SPDX-License-Identifier: Apache-2.0
"""A program in a memory cgroup at its limit lives on with the recorder's share added to the limit.

The share is that of docs/RELIABILITY.md, "Limits of memory and files". Pages of trace files count
to the cgroup until the kernel writes them back; the others stay.
"""

import os
import shlex
import shutil
import subprocess
import sys

import harness
from harness import victim

HERE = os.path.dirname(os.path.abspath(__file__))
GROUPS = "/sys/fs/cgroup/memory"
THREADS = 4
SHARE_KIB = 512 + THREADS * 1024
STEP_KIB = 128
MOST_KIB = 64 << 10
CALLS = os.environ.get("STAGEPROF_TEST_CALLS", "400000")


class Group:
    """A memory cgroup of version 1 or 2 below the root of its hierarchy."""

    def __init__(self, case):
        version_1 = os.path.exists(os.path.join(GROUPS, "memory.limit_in_bytes"))
        root = GROUPS if version_1 else os.path.dirname(GROUPS)
        self.path = os.path.join(root, f"stageprof-test-{os.getpid()}")
        self.limit = "memory.limit_in_bytes" if version_1 else "memory.max"
        try:
            os.mkdir(self.path)
        except OSError as error:
            case.skipTest(f"no memory cgroup: {error}")
        case.addCleanup(os.rmdir, self.path)
        if not os.path.exists(os.path.join(self.path, self.limit)):
            case.skipTest("no memory controller")

    def set(self, kib):
        with open(os.path.join(self.path, self.limit), "w") as file:
            file.write(str(kib << 10))

    def enter(self):
        with open(os.path.join(self.path, "cgroup.procs"), "w") as file:
            file.write(str(os.getpid()))


@harness.unittest.skipUnless(os.geteuid() == 0, "cgroups need root")
class AtTheLimit(harness.Case):
    COMMAND = [victim("read_loop"), str(THREADS), CALLS]

    def run_at(self, kib, name, traced, env=None):
        self.group.set(MOST_KIB)
        self.group.set(kib)
        return self.execute(
            self.COMMAND,
            self.subfolder(name),
            traced=traced,
            env=env,
            preexec_fn=self.group.enter,
        )

    def least(self):
        """The smallest limit at which the program lives without the library, twice."""
        dead, alive = 0, MOST_KIB
        while alive - dead > STEP_KIB:
            kib = (dead + alive) // 2
            lives = True
            for attempt in range(2):
                try:
                    done = self.run_at(kib, f"plain-{kib}-{attempt}", False).done
                    lives = lives and done.returncode == 0
                except (OSError, subprocess.SubprocessError):
                    lives = False
            dead, alive = (dead, kib) if lives else (kib, alive)
        return alive

    def test_nobody_is_killed(self):
        self.group = Group(self)
        least = self.least()
        self.assertLess(least, MOST_KIB - SHARE_KIB)
        for mode in ("map", "write"):
            for attempt in range(3):
                with self.subTest(mode=mode, attempt=attempt, least_kib=least):
                    outcome = self.run_at(
                        least + SHARE_KIB, f"{mode}-{attempt}", True, {"STAGEPROF_MODE": mode}
                    )
                    self.assertEqual(outcome.done.returncode, 0, outcome.done.stderr.decode())
                    self.assert_exact(outcome)
        print(f"least without the library: {least} KiB; the share: {SHARE_KIB} KiB")


class OfVersion2(harness.Case):
    """The test above in a kernel of its own, because a machine has each controller in one version.
    """

    def test_nobody_is_killed(self):
        linux = shutil.which("linux.uml")
        if not linux:
            self.skipTest("no linux.uml: the package user-mode-linux is missing")
        disk = os.path.join(self.folder, "disk")
        with open(disk, "wb") as file:
            file.truncate(512 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", disk], check=True)
        names = [name for name in os.environ if name.startswith(("STAGEPROF_TEST_", "PYTHON"))]
        words = [f"{name}={shlex.quote(os.environ[name])}" for name in names]
        words += ["STAGEPROF_TEST_CALLS=8000", sys.executable, os.path.abspath(__file__)]
        with open(os.path.join(self.folder, "command"), "w") as file:
            file.write(" ".join(words + ["AtTheLimit"]) + "\n")
        machine = ["mem=512M", "rootfstype=hostfs", "rw", "ubd0=" + disk]
        machine += [f"uml_dir={self.folder}/", "con=null", "con0=null,fd:1", "quiet"]
        script = [os.path.join(HERE, "unified_groups.sh"), self.folder]
        done = subprocess.run(
            [linux, *machine, "init=/bin/sh", "--", *script],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=280,
        )
        status = os.path.join(self.folder, "status")
        if not os.path.exists(status):
            self.skipTest("user-mode Linux does not run here: " + done.stdout[-200:].decode())
        with open(os.path.join(self.folder, "said")) as file:
            said = file.read()
        with open(status) as file:
            self.assertEqual(file.read(), "0\n", said)
        self.assertIn("the share: ", said)
        print(said)


if __name__ == "__main__":
    harness.main()
