# SPDX-License-Identifier: Apache-2.0
"""Versions that do not fit, libraries that cannot be preloaded, two installations at once: one
clear line each, and the program runs."""

import ctypes
import ctypes.util
import glob
import json
import os
import re
import shutil
import struct
import unittest

import scene
from scene import LIBRARY, PYTHON, REPORT, STAGEPROF, clean_environment

READS = "file = open('data', 'rb', buffering=0); [file.read(1) for _ in range(7)]; exit(3)"
NAME = b"stageprof\0\0\0"
E_MACHINE = 18
# struct sp_file_header of trace/format.h: where its version, its writer's version and its hash are
TAG_AT, FORMAT_AT, WRITER_AT, HASH_AT = 8, 16, 116, 264


class Libraries(scene.Case):
    def setUp(self):
        super().setUp()
        with open(os.path.join(self.folder, "data"), "wb") as file:
            file.write(bytes(7))

    def changed(self, name, change):
        """A copy of the library with other bytes."""
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(LIBRARY, "rb") as file:
            content = bytearray(file.read())
        change(content)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def unrecorded(self, library, pattern):
        done = self.run_under(PYTHON, "-c", "print(6); exit(3)", options=[f"--library={library}"])
        self.assertEqual((done.returncode, done.stdout), (3, "6\n"))
        self.assertRegex(done.stderr, rf"\Astageprof: {pattern}.*\n\Z")
        self.assertEqual(glob.glob(os.path.join(self.folder, "*.zst")), [])

    def reads(self, run="run.zst"):
        done = self.call(REPORT, "files", "--format=json", run)
        rows = json.loads(done.stdout)["files"]
        return sum(row["reads"] for row in rows if row["name"].endswith("/data"))

    def test_another_processor(self):
        def change(content):
            content[E_MACHINE] ^= 0x55

        library = self.changed("libstageprof.so", change)
        self.unrecorded(library, r"cannot preload .*: it is built for another processor; .*\[SP109\]")
        done = self.call(STAGEPROF, "doctor", f"--library={library}", "--", PYTHON)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^fail\s+parts\b[^;]*another processor")

    def test_no_library(self):
        self.unrecorded("data", r"cannot preload .*: it is no library; .*\[SP109\]")

    def test_path_with_a_space(self):
        library = self.changed("my folder/libstageprof.so", lambda content: None)
        self.unrecorded(library, r"cannot preload .*my folder.*: LD_PRELOAD cannot .*\[SP102\]")
        env = clean_environment(LD_PRELOAD=library)
        done = self.call(PYTHON, "-c", "print(6); exit(3)", env=env)
        self.assertEqual((done.returncode, done.stdout), (3, "6\n"))

    def test_another_version(self):
        def change(content):
            at = content.index(NAME) + len(NAME)
            content[at : at + 16] = b"9.8.7".ljust(16, b"\0")

        library = self.changed("libstageprof.so", change)
        command = (PYTHON, "-c", READS)
        done = self.run_under(*command, options=["--quiet", f"--library={library}"])
        self.assertEqual(done.returncode, 3)
        self.assertRegex(
            done.stderr,
            r"\Astageprof: uses \S+: it is of stageprof 9\.8\.7, and this program is .*\[SP111\]\n\Z",
        )
        self.assertEqual(self.reads(), 7)
        done = self.call(STAGEPROF, "doctor", f"--library={library}", "--", PYTHON)
        self.assertRegex(done.stdout, r"(?m)^warn\s+parts\b")

    def test_two_installations(self):
        first = self.changed("first/libstageprof.so", lambda content: None)
        second = self.changed("second/libstageprof.so", lambda content: None)
        env = clean_environment(LD_PRELOAD=f"{first}:{second}")
        done = self.call(PYTHON, "-c", READS, env=env)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("libstageprof.so", done.stderr)
        self.assertEqual(self.reads(), 7)
        shutil.rmtree(os.path.join(self.folder, "run.zst"))
        done = self.run_under(PYTHON, "-c", READS, options=["--quiet"], env=env)
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        self.assertEqual(self.reads(), 7)


class Versions(scene.Case):
    def test_verbose(self):
        version = self.call(STAGEPROF, "--version").stdout.split()[1]
        for program, name in (STAGEPROF, "stageprof"), (REPORT, "stageprof-report"):
            self.assertEqual(self.call(program, "-V").stdout, f"{name} {version}\n")
            for options in ("--version", "--verbose"), ("-v", "-V"):
                done = self.call(program, *options)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                lines = done.stdout.splitlines()
                self.assertEqual(lines[0], f"{name} {version}")
                words = [line.split()[0] for line in lines[1:]]
                self.assertEqual(words[:3], ["build", "features", "formats"])
        self.assertIn(f"{LIBRARY}, version {version}\n", self.call(STAGEPROF, "-V", "-v").stdout)

    def changed_run(self, at, bits, value):
        """A run whose headers have another value at this place, and the right hash."""
        name = ctypes.util.find_library("xxhash") or "libxxhash.so.0"
        try:
            library = ctypes.CDLL(name)
        except OSError:
            raise unittest.SkipTest("no libxxhash") from None
        library.XXH64.restype = ctypes.c_uint64
        library.XXH64.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
        self.run_under(PYTHON, "-c", "pass", options=["--quiet", "--output=new.zst"])
        files = glob.glob(os.path.join(self.folder, "new.zst", "*.zst"))
        headers = 0
        for path in files:
            with open(path, "r+b") as file:
                content = bytearray(file.read())
                for found in re.finditer(rb"STAGEPRF", bytes(content)):
                    begin = found.start() - TAG_AT
                    struct.pack_into(f"<{bits}", content, begin + at, value)
                    head = bytes(content[begin : begin + HASH_AT])
                    hashed = library.XXH64(head, HASH_AT, 0)
                    struct.pack_into("<Q", content, begin + HASH_AT, hashed)
                    headers += 1
                file.seek(0)
                file.write(content)
        self.assertGreater(headers, 0)

    def test_newer_writer(self):
        self.changed_run(WRITER_AT, "I", 9 << 16 | 8 << 8 | 7)
        done = self.call(REPORT, "processes", "new.zst")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(
            done.stderr,
            r"\Astageprof-report: new\.zst/\S+: stageprof 9\.8\.7 wrote it, and this .*\[SP231\]\n\Z",
        )

    def test_newer_format(self):
        self.changed_run(FORMAT_AT, "H", 77)
        done = self.call(REPORT, "processes", "new.zst")
        lines = [line for line in done.stderr.splitlines() if "[SP231]" in line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn("it has format 77, and this program reads format 2", lines[0])

    def test_older_format(self):
        self.changed_run(FORMAT_AT, "H", 1)
        done = self.call(REPORT, "processes", "new.zst")
        lines = [line for line in done.stderr.splitlines() if "[SP232]" in line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn("it has format 1, and this program reads format 2", lines[0])
        self.assertNotIn("[SP231]", done.stderr)

    def test_newer_of_two_runs(self):
        self.run_under(PYTHON, "-c", "pass", options=["--quiet", "--output=old.zst"])
        for at, bits, value in ((FORMAT_AT, "H", 77), (WRITER_AT, "I", 9 << 16)):
            self.changed_run(at, bits, value)
            done = self.call(REPORT, "processes", "old.zst", "new.zst")
            lines = [line for line in done.stderr.splitlines() if "[SP231]" in line]
            self.assertEqual(len(lines), 1, done.stderr)
            self.assertIn(" new.zst/", lines[0])
            shutil.rmtree(os.path.join(self.folder, "new.zst"))


if __name__ == "__main__":
    scene.main()
