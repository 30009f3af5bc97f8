# SPDX-License-Identifier: Apache-2.0
"""Ordinary loaders, unmodified, under the preload and strace at once. The report has the reads of
the data's files that the kernel was asked for, and the decoding that the loader counted itself.

For fread the kernel sees libc's own reads only, so count_fread.c counts the program's reads,
without stageprof.

Environment: STAGEPROF_TEST_LIB, STAGEPROF_TEST_REPORT, STAGEPROF_TEST_LOADER_PYTHON,
STAGEPROF_TEST_COUNT_FREAD.
"""

import collections
import glob
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
COUNT_FREAD = os.environ["STAGEPROF_TEST_COUNT_FREAD"]
LOAD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "load.py")

# libc's calls by the system call that each of them is.
CALLS = {
    "read": "read",
    "pread": "pread64",
    "readv": "readv",
    "preadv": "preadv",
    "preadv2": "preadv2",
    "write": "write",
    "pwrite": "pwrite64",
    "writev": "writev",
    "pwritev": "pwritev",
    "pwritev2": "pwritev2",
    "copy_file_range": "copy_file_range",
    "mmap": "mmap",
    "open": "openat",
    "openat": "openat",
    "creat": "openat",
    "fopen": "openat",
    "fopen_write": "openat",
}
MOVES = set(CALLS.values()) - {"mmap", "openat"}
STREAMS = ("cv2", "numpy")  # what reads by fread
LINE = re.compile(r"^(\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+)(?:<(.*)>)?")


def lines_of(logs):
    for log in logs:
        with open(log, errors="replace") as lines:
            yield from lines


def kernel_view(logs, data):
    """(system call, file) to (calls, bytes) of the files in the data's folder; a log for each
    thread."""
    seen = collections.defaultdict(lambda: [0, 0])
    for line in lines_of(logs):
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
        elif call in MOVES and int(result, 0) > 0:
            entry[1] += int(result, 0)
    return {key: tuple(value) for key, value in seen.items()}


def reported_view(events, data):
    """The same from the report's dump."""
    seen = collections.defaultdict(lambda: [0, 0])
    for event in events:
        path = (event["file"] or "").removesuffix(" (deleted)")
        if event["event"] not in CALLS or not path.startswith(data + "/"):
            continue
        call = CALLS[event["event"]]
        entry = seen[call, path]
        entry[0] += 1
        if call in MOVES or call == "mmap":
            entry[1] += max(event["value"], 0)
    return {key: tuple(value) for key, value in seen.items()}


def stream_view(events, data):
    """The data's file to [calls, bytes] of fread."""
    seen = collections.defaultdict(lambda: [0, 0])
    for event in events:
        if event["event"] == "fread" and (event["file"] or "").startswith(data + "/"):
            seen[event["file"]][0] += 1
            seen[event["file"]][1] += max(event["value"], 0)
    return dict(seen)


def counted_streams(name, data):
    """The same from a run without us."""
    seen = collections.defaultdict(lambda: [0, 0])
    with tempfile.TemporaryFile("w+") as log:
        env = dict(os.environ, LD_PRELOAD=COUNT_FREAD, COUNT_FREAD_FD=str(log.fileno()))
        subprocess.run(
            [PYTHON, LOAD, name, data],
            env=env,
            pass_fds=[log.fileno()],
            stdout=subprocess.DEVNULL,
            check=True,
            timeout=120,
        )
        log.seek(0)
        for line in log:
            nbytes, path = line.rstrip("\n").split(" ", 1)
            if path.startswith(data + "/"):
                seen[path][0] += 1
                seen[path][1] += int(nbytes)
    return dict(seen)


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
            ["strace", "-ff", "-y", "-s", "0", "-o", log]
            + ["-e", "trace=openat,mmap," + ",".join(sorted(MOVES))]
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
        # Only the kernel sees libc's own reads inside fread.
        streams = {("read", file) for file in stream_view(events, self.data)}
        kernel, reported = (
            {key: value for key, value in view.items() if key not in streams}
            for view in (
                kernel_view(glob.glob(log + ".*"), self.data),
                reported_view(events, self.data),
            )
        )
        self.assertTrue(kernel, "strace saw no file of the data")
        self.assertEqual(reported, kernel)
        self.assertTrue(streams or name not in STREAMS)
        if streams:
            self.assertEqual(stream_view(events, self.data), counted_streams(name, self.data))
        stages = {stage["stage"]: stage for stage in report("stages", run)["stages"]}
        return json.loads(done.stdout), stages, events

    def summary(self, name):
        run = os.path.join(self.folder, name + ".zst")
        done = subprocess.run(
            [REPORT, "summary", run], stdout=subprocess.PIPE, check=True, timeout=120, env={"COLUMNS": "200"}
        )
        return done.stdout.decode()

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
        """By data set; what the library reads of the file for it lies inside."""
        own, _, events = self.load("hdf5")
        seen = collections.defaultdict(lambda: [0, 0])
        for event in events:
            if event["event"] in ("H5Dread", "H5Dread_chunk", "H5Dwrite"):
                seen[event["event"], event["label"]][0] += 1
                seen[event["event"], event["label"]][1] += event["value"]
        self.assertEqual(
            {(event, name): [calls, nbytes] for event, name, calls, nbytes in own}, dict(seen)
        )
        opened = collections.Counter(e["label"] for e in events if e["event"] == "H5Dopen")
        self.assertEqual(opened, {"/observations/qpos": 1, "/action": 1})
        outer = [e for e in events if e["event"].startswith("H5D") or e["event"] == "H5Fopen"]
        ends = [(e["tid"], e["start_ns"], e["start_ns"] + e["dur_ns"]) for e in outer]
        for event in events:
            if event["event"] == "pread" and (event["file"] or "").endswith("episode.hdf5"):
                at, end = event["start_ns"], event["start_ns"] + event["dur_ns"]
                self.assertTrue(
                    any(tid == event["tid"] and a <= at and end <= b for tid, a, b in ends), event
                )

    def test_odd_python(self):
        self.load("odd_python")

    def test_tar_shards(self):
        self.exact("tar")

    def test_video(self):
        self.exact("video")

    def test_webdataset(self):
        self.exact("webdataset")

    def test_cv2(self):
        """Decoding inside a wheel gives no image and never a wrong count, and the report names the
        gap."""
        own, stages, _ = self.load("cv2")
        summary = self.summary("cv2")
        for stage, title in ("jpeg_decode", "JPEG"), ("png_decode", "PNG"), ("webp_decode", "WebP"):
            self.assertEqual(own[stage], 6)
            if own[stage.replace("decode", "seen")]:
                self.assertEqual(stages[stage]["calls"], own[stage])
            else:
                self.assertNotIn(stage, stages)
                self.assertRegex(summary, f"no calls .*{title} decode.*: not made, or not recorded")

    def test_numpy_load(self):
        own, _, events = self.load("numpy")
        moved = sum(nbytes for _, nbytes in stream_view(events, self.data).values())
        self.assertEqual(moved, own["array_bytes"])

    def maps(self, name, file, field, count):
        """The kernel sees only the mapping of these files. The report has the mapped bytes exactly,
        as strace has them."""
        own, _, events = self.load(name)
        self.assertEqual(own[field], count)
        path = os.path.join(self.data, file)
        mapped = [e["value"] for e in events if e["event"] == "mmap" and e["file"] == path]
        self.assertTrue(mapped)
        self.assertGreaterEqual(mapped[0], os.path.getsize(path))

    def test_numpy_memmap(self):
        self.maps("memmap", "array.npy", "sum", 99_999 * 50_000)

    def test_lmdb(self):
        self.maps("lmdb", "lmdb/data.mdb", "entries", 6)

    def test_arrow(self):
        self.maps("arrow", "pages.arrow", "pages", 512)

    def test_safetensors(self):
        self.maps("safetensors", "pages.safetensors", "pages", 512)


class Reasons(unittest.TextTestResult):
    """Prints each skipped test and the reason."""

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print(f"skipped: {test}: {reason}")


if __name__ == "__main__":
    if not shutil.which("strace"):
        print("no strace")
        sys.exit(77)
    unittest.main(testRunner=unittest.TextTestRunner(resultclass=Reasons))
