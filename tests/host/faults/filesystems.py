# SPDX-License-Identifier: Apache-2.0
"""Outputs on file systems of every kind, full and not: no store of the recorder becomes a signal.

Loop devices need root; a file system whose tools or driver are missing is skipped by name.
"""

import os
import shutil
import signal
import subprocess
import time

import harness
from harness import victim

# A training program whose steps begin and end the recorded window while its output has no space.
STEPS = """
import os, sys, torch
page = open("in.dat", "w+b"); page.write(b"x" * 4096); page.flush()
os.pread(page.fileno(), 16, 0)
print("ready", flush=True)
sys.stdin.readline()
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(20):
    model(torch.randn(2, 4)).sum().backward()
    optimizer.step()
print("done")
"""

# xfs takes no less than 300 MB; a full disk is filled first.
IMAGE_BYTES = {"xfs": 400 << 20}
SMALL_IMAGE_BYTES = 130 << 20
LEFT_BYTES = 3 << 20

MAKERS = {
    "ext4": ["mkfs.ext4", "-q", "-F"],
    "ext4-no-journal": ["mkfs.ext4", "-q", "-F", "-O", "^has_journal"],
    "xfs": ["mkfs.xfs", "-q", "-f"],
    "btrfs": ["mkfs.btrfs", "-q", "-f"],
}


def said(command, **options):
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, **options
    )


class Disk:
    """A file system of its own, mounted in `folder`."""

    def __init__(self, case, kind, folder):
        self.mount = os.path.join(folder, "mount")
        os.makedirs(self.mount)
        self.missing = getattr(self, "make_" + kind.split("-")[0])(case, kind, folder)
        if not self.missing:
            case.addCleanup(said, ["umount", "-l", self.mount])

    def mounted(self, command):
        done = said(command)
        return done.stdout.decode().strip() or "no mount" if done.returncode else ""

    def make_loop(self, case, kind, folder):
        if not shutil.which(MAKERS[kind][0]):
            return "no " + MAKERS[kind][0]
        image = os.path.join(folder, "image")
        with open(image, "wb") as file:
            file.truncate(IMAGE_BYTES.get(kind, SMALL_IMAGE_BYTES))
        done = said(MAKERS[kind] + [image])
        if done.returncode:
            return done.stdout.decode()
        return self.mounted(["mount", "-o", "loop", image, self.mount])

    make_ext4 = make_xfs = make_btrfs = make_loop

    def make_tmpfs(self, case, kind, folder):
        return self.mounted(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", self.mount])

    def make_overlay(self, case, kind, folder):
        """Over a full btrfs, as a container's root may be."""
        under = Disk(case, "btrfs", os.path.join(folder, "under"))
        if under.missing:
            return under.missing
        parts = [os.path.join(under.mount, name) for name in ("lower", "upper", "work")]
        for part in parts:
            os.makedirs(part)
        options = "lowerdir={},upperdir={},workdir={}".format(*parts)
        return self.mounted(["mount", "-t", "overlay", "-o", options, "overlay", self.mount])

    def make_bindfs(self, case, kind, folder):
        """FUSE, on a full tmpfs."""
        if not shutil.which("bindfs"):
            return "no bindfs"
        under = Disk(case, "tmpfs", os.path.join(folder, "under"))
        return under.missing or self.mounted(["bindfs", under.mount, self.mount])

    def make_sshfs(self, case, kind, folder):
        """SFTP, on a full tmpfs. A pipe to the server takes the place of the network."""
        server = "/usr/lib/openssh/sftp-server"
        if not shutil.which("sshfs") or not os.path.exists(server):
            return "no sshfs or no sftp-server"
        under = Disk(case, "tmpfs", os.path.join(folder, "under"))
        if under.missing:
            return under.missing
        connection = os.path.join(folder, "connection")
        with open(connection, "w") as file:
            file.write(f"#!/bin/sh\nexec {server}\n")
        os.chmod(connection, 0o700)
        remote = "nowhere:" + under.mount
        return self.mounted(["sshfs", "-o", "ssh_command=" + connection, remote, self.mount])

    def fill(self, left=LEFT_BYTES):
        room = os.statvfs(self.mount)
        count = max(0, room.f_bavail * room.f_frsize - left)
        with open(os.path.join(self.mount, "filler"), "ab", buffering=0) as file:
            try:
                while count > 0:
                    count -= file.write(os.urandom(min(count, 1 << 20)))
                os.fsync(file.fileno())
            except OSError:
                pass
        os.sync()

    def fill_all(self):
        self.fill(0)
        try:
            with open(os.path.join(self.mount, "rest"), "ab", buffering=0) as file:
                while True:
                    file.write(os.urandom(4096))
        except OSError:
            pass


@harness.unittest.skipUnless(os.geteuid() == 0, "loop devices need root")
class Full(harness.Case):
    ARGUMENTS = [victim("read_loop"), "4", "400000"]

    def disk(self, kind, name=""):
        disk = Disk(self, kind, self.subfolder(kind + name))
        if disk.missing:
            self.skipTest(f"{kind}: {disk.missing}")
        return disk

    def full(self, kind, name=""):
        disk = self.disk(kind, name)
        disk.fill()
        output = os.path.join(disk.mount, "run.zst")
        outcome = self.execute(
            self.ARGUMENTS, self.subfolder(name + "traced"), env={"STAGEPROF_OUTPUT": output}
        )
        outcome.trace.path = output
        plain = self.execute(self.ARGUMENTS, self.subfolder(name + "plain"), traced=False)
        self.assert_same(plain, outcome, notes=1)
        self.assert_counted(outcome)

    def test_btrfs(self):
        self.full("btrfs")

    def test_xfs(self):
        self.full("xfs")

    def test_ext4(self):
        self.full("ext4")

    def test_ext4_without_journal(self):
        self.full("ext4-no-journal")

    def test_tmpfs(self):
        self.full("tmpfs")

    def test_overlay(self):
        self.full("overlay")

    def test_bindfs(self):
        self.full("bindfs")

    def test_sshfs(self):
        """A close reports a write that the server refused, so where a loss falls varies."""
        for attempt in range(5):
            self.full("sshfs", f"{attempt}")

    def test_sshfs_killed(self):
        """The calls that ended before a kill are in the report."""
        disk = self.disk("sshfs")
        output = os.path.join(disk.mount, "run.zst")
        folder = self.subfolder("traced")
        tally = harness.Tally(os.path.join(folder, "tally"))
        process = subprocess.Popen(
            [victim("read_loop"), "2", "40000000"],
            cwd=folder,
            env=harness.traced_environment(folder, {"STAGEPROF_OUTPUT": output}),
            stdout=subprocess.DEVNULL,
        )
        while sum(row.calls for row in tally.rows()) < 300000:
            time.sleep(0.01)
        process.kill()
        process.wait()
        reads = harness.bounds(tally.rows(), lambda row: row.stage)["file_read"]
        stages, _ = harness.Trace(output).stages()
        self.assertGreaterEqual(stages["file_read"]["calls"], reads.calls)
        self.assertLessEqual(stages["file_read"]["calls"], reads.begun)

    def shared(self, kind, share):
        """Pages that a copy shares with ours are written again, and there is no space for that."""
        disk = self.disk(kind)
        output = os.path.join(disk.mount, "run.zst")
        folder = self.subfolder("traced")
        tally = harness.Tally(os.path.join(folder, "tally"))
        process = subprocess.Popen(
            [victim("read_loop"), "4", "2000000"],
            cwd=folder,
            env=harness.traced_environment(folder, {"STAGEPROF_OUTPUT": output}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        while sum(row.calls for row in tally.rows()) < 100000:
            time.sleep(0.01)
        for number in range(3):
            self.assertEqual(said(share(disk.mount, output, number)).returncode, 0)
            time.sleep(0.1)
        # no store comes between the last copy and the full disk: each would make its pages the
        # run's own again
        process.send_signal(signal.SIGSTOP)
        self.assertEqual(said(share(disk.mount, output, 3)).returncode, 0)
        for _ in range(3):
            disk.fill_all()
            os.sync()
        process.send_signal(signal.SIGCONT)
        out, err = process.communicate(timeout=120)
        done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
        outcome = harness.Outcome(folder, harness.Trace(output), tally, done)
        self.assertEqual(process.returncode, 0, err.decode())
        self.assert_counted(outcome)

    def test_xfs_shared_by_cp(self):
        self.shared(
            "xfs",
            lambda mount, output, number: [
                "cp",
                "-r",
                "--reflink=always",
                output,
                os.path.join(mount, f"backup-{number}"),
            ],
        )

    def snapshot(self, mount, number):
        return [
            "btrfs",
            "subvolume",
            "snapshot",
            mount,
            os.path.join(mount, f"snapshot-{number}"),
        ]

    def test_btrfs_snapshots(self):
        self.shared("btrfs", lambda mount, output, number: self.snapshot(mount, number))

    def test_btrfs_steps(self):
        """The marker's word is stored to, too, where steps of training switch the recording."""
        python = os.environ.get("STAGEPROF_TEST_PYTHON")
        if not python:
            self.skipTest("no Python with PyTorch")
        disk = self.disk("btrfs")
        env = {
            "STAGEPROF_OUTPUT": os.path.join(disk.mount, "run.zst"),
            "STAGEPROF_STEPS": "5-10",
            "OMP_NUM_THREADS": "1",
        }
        process = subprocess.Popen(
            [python, "-c", STEPS],
            cwd=self.folder,
            env=harness.traced_environment(self.folder, env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.assertEqual(process.stdout.readline(), b"ready\n")
        os.sync()
        disk.fill_all()
        self.assertEqual(said(self.snapshot(disk.mount, 0)).returncode, 0)
        out, _ = process.communicate(b"\n", timeout=120)
        self.assertEqual((process.returncode, out), (0, b"done\n"))


if __name__ == "__main__":
    harness.main()
