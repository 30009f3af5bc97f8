# SPDX-License-Identifier: Apache-2.0
"""The file system of each file, as stat(1) has it; reads that waited for a slow store are
distinguished from reads that the page cache served.

Environment: STAGEPROF_TEST_LIB, STAGEPROF_TEST_REPORT, STAGEPROF_TEST_SLOW_FILES
(tests/training/planted/slow_files.c).
FOLDER: on a disk.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PAGE, PAGES = 4096, 64
LATENCY_US = 3000
SLOW_NS = 21_500  # a read of a page that is slow in the report takes as long for its reader
# stat(1)'s names that are not ours
NAMES = {"ext2/ext3": "ext4", "overlayfs": "overlay", "fuseblk": "fuse"}
READER = f"""
import os, sys, time
fd = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
slow = 0
for again in range(2):
    for i in range({PAGES}):
        begin = time.perf_counter_ns()
        assert len(os.pread(fd, {PAGE}, i * 37 % {PAGES} * {PAGE})) == {PAGE}
        slow += time.perf_counter_ns() - begin >= {SLOW_NS}
print(slow)
"""


@contextlib.contextmanager
def slow_view(folder, view):
    """`view` shows `folder` through FUSE; each request takes LATENCY_US."""
    os.mkdir(view)
    command = [os.environ["STAGEPROF_TEST_SLOW_FILES"], folder, view, str(LATENCY_US), "1000"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as server:
        try:
            until = time.monotonic() + 10
            while not os.path.ismount(view):
                if server.poll() is not None or time.monotonic() > until:
                    server.kill()
                    raise unittest.SkipTest(
                        "no FUSE mount: " + server.communicate()[1].decode().strip()
                    )
                time.sleep(0.01)
            yield
        finally:
            subprocess.run(["fusermount3", "-u", "-q", "-z", view])


class FileSystems(unittest.TestCase):
    def folder(self, where):
        path = os.path.realpath(tempfile.mkdtemp(prefix="stageprof-places-", dir=where))
        self.addCleanup(shutil.rmtree, path, True)
        return path

    def make(self, folder):
        with open(os.path.join(folder, "data.bin"), "wb") as file:
            file.write(os.urandom(PAGE * PAGES))

    def read(self, folder, *before):
        """The report's row of data.bin, and how many reads were slow for their reader: one that is
        put off its core waits without a store."""
        path, run = os.path.join(folder, "data.bin"), os.path.join(self.folder(None), "run.zst")
        script = (
            'stat -f -c %T "$1" && exec env LD_PRELOAD="$2" STAGEPROF_OUTPUT="$3" "$4" -c "$5" "$1"'
        )
        argv = [
            "sh",
            "-c",
            script,
            "sh",
            path,
            os.environ["STAGEPROF_TEST_LIB"],
            run,
            sys.executable,
            READER,
        ]
        done = subprocess.run(
            [*before, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60
        )
        if done.returncode == 77:
            self.skipTest(done.stderr.decode().strip())
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        command = [
            os.environ["STAGEPROF_TEST_REPORT"],
            "files",
            "--limit=all",
            "--format=json",
            run,
        ]
        rows = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)[
            "files"
        ]
        (row,) = (row for row in rows if row["name"] == path)
        self.assertEqual([row["reads"], row["read_bytes"]], [2 * PAGES, 2 * PAGES * PAGE])
        told, slow = done.stdout.decode().split()
        self.assertEqual(row["file_system"], NAMES.get(told, told))
        self.assertLessEqual(row["slow_reads"], int(slow))
        return row

    def test_disk(self):
        folder = self.folder(FOLDER)
        self.make(folder)
        self.assertIsNotNone(self.read(folder)["file_system"])

    def test_memory(self):
        folder = self.folder("/dev/shm")
        self.make(folder)
        self.assertEqual(self.read(folder)["file_system"], "tmpfs")

    def test_overlay(self):
        folder = self.folder(FOLDER)
        for name in ("lower", "upper", "work", "merged"):
            os.mkdir(os.path.join(folder, name))
        self.make(os.path.join(folder, "lower"))
        layers = "lowerdir=$0/lower,upperdir=$0/upper,workdir=$0/work"
        mount = f'mount -t overlay overlay -o "{layers}" "$0/merged" || exit 77; exec "$@"'
        row = self.read(
            os.path.join(folder, "merged"), "unshare", "-Urm", "sh", "-c", mount, folder
        )
        self.assertEqual(row["file_system"], "overlay")

    def test_slow_store(self):
        """The first pass waits for each page, the second for none."""
        if not os.path.exists(os.environ["STAGEPROF_TEST_SLOW_FILES"]) or not os.access(
            "/dev/fuse", os.R_OK | os.W_OK
        ):
            self.skipTest("built without libfuse3, or no right to /dev/fuse")
        folder = self.folder(None)
        os.mkdir(os.path.join(folder, "under"))
        self.make(os.path.join(folder, "under"))
        with slow_view(os.path.join(folder, "under"), os.path.join(folder, "view")):
            row = self.read(os.path.join(folder, "view"))
        self.assertEqual(row["file_system"], "fuse")
        self.assertGreaterEqual(row["slow_reads"], PAGES)
        self.assertGreaterEqual(row["slow_read_ns"], PAGES * LATENCY_US * 1000)
        self.assertEqual(row["slow_read_bytes"], row["slow_reads"] * PAGE)


if __name__ == "__main__":
    FOLDER = sys.argv.pop(1)
    unittest.main(verbosity=2)
