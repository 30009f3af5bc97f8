"""Ordinary loaders, unmodified, under the preload and strace at once: what the report says of the
data's files is what the kernel was asked, and what it says of decoders is what the loader counted itself.

Environment: STAGEPROF_TEST_LIB, STAGEPROF_TEST_REPORT, STAGEPROF_TEST_LOADER_PYTHON.
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LIBRARY = os.environ["STAGEPROF_TEST_LIB"]
REPORT = os.environ["STAGEPROF_TEST_REPORT"]
PYTHON = os.environ.get("STAGEPROF_TEST_LOADER_PYTHON") or sys.executable
LOAD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "load.py")

# libc's calls by the system call that each of them is.
CALLS = {
    "read": "read",
    "pread": "pread64",
    "readv": "readv",
    "preadv": "preadv",
    "preadv2": "preadv2",
    "mmap": "mmap",
    "open": "openat",
    "openat": "openat",
    "fopen": "openat",
}
READS = {"read", "pread64", "readv", "preadv", "preadv2"}
LINE = re.compile(r"^\d+ +(\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+)(?:<(.*)>)?")


def kernel_view(log, data):
    """(system call, file) to (calls, bytes) of the files in the data's folder."""
    seen = collections.defaultdict(lambda: [0, 0])
    with open(log, errors="replace") as lines:
        for line in lines:
            match = LINE.match(line)
            if not match:
                continue
            call, arguments, result, opened = match.groups()
            names = [opened] if call == "openat" else re.findall(r"\d<([^>]*)>", arguments)
            if not names or not names[0] or not names[0].startswith(data + "/"):
                continue
            entry = seen[call, names[0]]
            entry[0] += 1
            if call == "mmap":
                entry[1] += int(arguments.split(",")[1])
            elif call in READS and int(result, 0) > 0:
                entry[1] += int(result, 0)
    return {key: tuple(value) for key, value in seen.items()}


def reported_view(events, data):
    """The same from the report's dump."""
    seen = collections.defaultdict(lambda: [0, 0])
    for event in events:
        path = event["file"] or ""
        if event["event"] not in CALLS or not path.startswith(data + "/"):
            continue
        call = CALLS[event["event"]]
        entry = seen[call, path]
        entry[0] += 1
        if call in READS or call == "mmap":
            entry[1] += max(event["value"], 0)
    return {key: tuple(value) for key, value in seen.items()}


def report(view, run):
    done = subprocess.run(
        [REPORT, view, "--format=json", run], stdout=subprocess.PIPE, check=True, timeout=120
    )
    return json.loads(done.stdout)


class Loaders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="stageprof-loaders-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.data = os.path.join(cls.folder, "data")
        os.mkdir(cls.data)
        subprocess.run([PYTHON, LOAD, "make", cls.data], check=True, timeout=120)

    def load(self, name):
        """Runs one loader; returns its own counts, the report's stages and its events."""
        run, log = (os.path.join(self.folder, name + end) for end in (".zst", ".strace"))
        done = subprocess.run(
            ["strace", "-f", "-y", "-s", "0", "-o", log]
            + ["-e", "trace=openat,mmap," + ",".join(sorted(READS))]
            + ["-E", "LD_PRELOAD=" + LIBRARY, "-E", "STAGEPROF_OUTPUT=" + run]
            + [PYTHON, LOAD, name, self.data],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=120,
        )
        if done.returncode == 77:
            self.skipTest(done.stderr.decode().strip())
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        events = report("dump", run)["events"]
        # What libc reads for itself inside fread is the kernel's alone.
        streams = {("read", event["file"]) for event in events if event["event"] == "fread"}
        kernel, reported = (
            {key: value for key, value in view.items() if key not in streams}
            for view in (kernel_view(log, self.data), reported_view(events, self.data))
        )
        self.assertTrue(kernel, "strace saw no file of the data")
        self.assertEqual(reported, kernel)
        stages = {stage["stage"]: stage for stage in report("stages", run)["stages"]}
        return json.loads(done.stdout), stages, events

    def agree(self, own, stages):
        """NAME is a stage's calls, NAME_bytes its bytes."""
        for name, count in own.items():
            stage, field = (name[:-6], "bytes") if name.endswith("_bytes") else (name, "calls")
            self.assertGreater(count, 0, name)
            self.assertEqual(stages[stage][field], count, name)

    def exact(self, name):
        own, stages, _ = self.load(name)
        self.agree(own, stages)

    def test_pillow(self):
        self.exact("pillow")

    def test_png_folder(self):
        self.exact("png")

    def test_webp(self):
        self.exact("webp")

    def test_torchvision(self):
        self.exact("torchvision")

    def test_hdf5(self):
        self.exact("hdf5")

    def test_tar_shards(self):
        self.exact("tar")

    def test_video(self):
        self.exact("video")

    def test_cv2(self):
        """Some wheels hide their libpng: then there is no image, and never a wrong count."""
        own, stages, _ = self.load("cv2")
        self.assertGreater(own["images"], 0)
        if stages.get("png_decode", {}).get("calls"):
            self.assertEqual(stages["png_decode"]["calls"], own["images"])

    def test_numpy_load(self):
        own, _, events = self.load("numpy")
        moved = sum(
            event["value"]
            for event in events
            if event["event"] == "fread" and (event["file"] or "").endswith("array.npy")
        )
        self.assertEqual(moved, own["array_bytes"])

    def test_numpy_memmap(self):
        own, stages, _ = self.load("memmap")
        self.assertGreater(own["sum"], 0)
        self.assertGreater(stages["mmap"]["bytes"], 800_000)

    def test_lmdb(self):
        own, _, _ = self.load("lmdb")
        self.assertGreater(own["entries"], 0)


if __name__ == "__main__":
    if not shutil.which("strace"):
        print("no strace")
        sys.exit(77)
    unittest.main()
