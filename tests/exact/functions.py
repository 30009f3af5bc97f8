# SPDX-License-Identifier: Apache-2.0
"""Frames of native stacks get the names of their functions where the file is the one that ran, and
no name else."""

import os
import shutil
import subprocess
import sys

import harness
from harness import victim

STATIC, EXPORTED, MAIN = "static_reader", "exported_reader", "main"
ALL = [STATIC, EXPORTED, MAIN]
NONE = [None, None, None]
DYNAMIC = [None, EXPORTED, None]  # what .dynsym has


class Functions(harness.Case):
    def record(self, kind="named_reader"):
        """The program that ran: a copy, because tests change it later."""
        self.program = os.path.join(self.subfolder("bin-" + kind), "reader")
        shutil.copy(victim(kind), self.program)
        self.run_it()

    def run_it(self):
        folder = self.subfolder(f"run-{self.count}")
        self.count += 1
        outcome = self.execute([self.program], folder, env={"STAGEPROF_STACKS": "ipc_read>1ns"})
        self.assertEqual(outcome.done.returncode, 0)
        self.trace = outcome.trace

    def setUp(self):
        super().setUp()
        self.count = 0

    def named(self):
        """The functions of the program's own frames, as the view names them."""
        rows = self.trace.report("stacks", "--symbols")["slow_calls"]
        self.assertEqual(len(rows), 1)
        frames, functions = rows[0]["frames"].split(";"), rows[0]["functions"]
        self.assertEqual(len(frames), len(functions))
        self.assertTrue(all(frame.startswith("reader+0x") for frame in frames[:3]), frames)
        return functions[:3]

    def payloads(self, trace):
        return subprocess.run(
            ["zstd", "-dcq", *trace.files()], stdout=subprocess.PIPE, check=True
        ).stdout

    def replace(self, make):
        os.unlink(self.program)
        make(self.program)

    def test_names(self):
        """Programs have names wherever they are loaded, with a build id or without."""
        for kind in ("named_reader", "named_reader_fixed", "named_reader_without_id"):
            with self.subTest(kind):
                self.record(kind)
                self.assertEqual(self.named(), ALL)

    def test_people_read_them(self):
        self.record()
        command = [
            harness.environment("STAGEPROF_TEST_REPORT"),
            "stacks",
            "--symbols",
            self.trace.path,
        ]
        said = subprocess.run(
            command + ["--width=0"], stdout=subprocess.PIPE, check=True
        ).stdout.decode()
        self.assertIn(" < ".join(ALL), said)
        wide = subprocess.run(
            command + ["--width=110"], stdout=subprocess.PIPE, check=True
        ).stdout.decode()
        self.assertIn(f"{STATIC} < ", wide)
        self.assertTrue(all(len(line) <= 110 for line in wide.splitlines()), wide)

    def test_stripped(self):
        self.record()
        subprocess.run(["strip", self.program], check=True)  # its build id stays
        self.assertEqual(self.named(), DYNAMIC)
        self.run_it()
        self.assertEqual(self.named(), DYNAMIC)

    def test_by_another_path(self):
        self.record()
        other = self.program + ".moved"
        os.rename(self.program, other)
        os.symlink(other, self.program)
        self.assertEqual(self.named(), ALL)

    def test_another_build(self):
        self.record()
        self.replace(lambda path: shutil.copy(victim("named_reader_fixed"), path))
        self.assertEqual(self.named(), NONE)
        self.replace(lambda path: shutil.copy(victim("named_reader_without_id"), path))
        self.assertEqual(self.named(), NONE)
        self.record("named_reader_without_id")
        self.replace(lambda path: shutil.copy(victim("named_reader"), path))
        self.assertEqual(self.named(), NONE)

    def test_changed_without_build_id(self):
        """As old as it says it is, but put there after the run."""
        self.record("named_reader_without_id")
        at = os.stat(self.program)
        self.replace(lambda path: shutil.copy(victim("named_reader_without_id"), path))
        os.utime(self.program, ns=(at.st_atime_ns, at.st_mtime_ns))
        self.assertEqual(self.named(), NONE)

    def test_no_such_file(self):
        self.record()
        whole = os.stat(self.program).st_size
        for make in (
            lambda path: None,
            os.mkfifo,
            os.mkdir,
            lambda path: os.symlink("/dev/zero", path),
            lambda path: os.symlink(path, path),
            lambda path: open(path, "w").close(),
        ):
            self.replace(make)
            self.assertEqual(self.named(), NONE)
            if os.path.isdir(self.program):
                os.rmdir(self.program)
            if not os.path.lexists(self.program):
                open(self.program, "w").close()
        for size in (1, 63, 64, 1000, whole // 2, whole - 1):
            shutil.copy(victim("named_reader"), self.program)
            os.truncate(self.program, size)
            self.assertIn(self.named(), (NONE, ALL))

    def test_paths_left_out(self):
        """A build id does not reveal a path that STAGEPROF_PATHS keeps back."""
        self.record()
        identity = subprocess.run(
            ["readelf", "-n", self.program], stdout=subprocess.PIPE, check=True
        ).stdout
        identity = bytes.fromhex(identity.decode().split("Build ID: ")[1].split()[0])
        self.assertIn(identity, self.payloads(self.trace))
        environment = {"STAGEPROF_STACKS": "ipc_read>1ns", "STAGEPROF_PATHS": "basename"}
        outcome = self.execute([self.program], self.subfolder("kept-back"), env=environment)
        self.assertNotIn(identity, self.payloads(outcome.trace))
        self.assertEqual(
            outcome.trace.report("stacks", "--symbols")["slow_calls"][0]["functions"][:3], NONE
        )

    def test_opens_what_ran_and_nothing_else(self):
        """strace: of the files that a trace names, the report opens programs and libraries of
        stacks, and those only where it is asked to."""
        if not shutil.which("strace"):
            self.skipTest("no strace")
        self.record()
        self.replace(os.mkfifo)
        log = os.path.join(self.folder, "strace")
        asked = [["stacks", "--symbols"], ["sync", "--symbols"]]
        for view in [*asked, ["stacks"], ["sync"], ["summary"], ["dump"]]:
            command = ["strace", "-f", "-o", log, "-e", "trace=open,openat,openat2,execve,connect"]
            command += [harness.environment("STAGEPROF_TEST_REPORT"), *view, self.trace.path]
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
            with open(log, encoding="utf-8") as file:
                calls = [
                    line for line in file if self.program in line and self.trace.path not in line
                ]
            self.assertEqual(bool(calls), view in asked, view)
            self.assertTrue(all("O_PATH" in call for call in calls), calls)


class Lines(harness.Case):
    def test_slow_reads(self):
        """A slow read has the line of Python that made it, on the main thread."""
        program = os.path.join(harness.ROOT, "tests/programs/victims/slow_reads.py")
        with open(program) as file:
            place = 1 + [line.strip() for line in file].index("return os.read(source, 1)")
        outcome = self.execute(
            [sys.executable, program],
            self.subfolder("run"),
            env={"STAGEPROF_STACKS": "ipc_read>15ms"},
        )
        self.assertEqual(outcome.done.returncode, 0)
        report = outcome.trace.report("stacks")
        rows = [
            (row["event"], row["line"], row["function"], row["calls"]) for row in report["lines"]
        ]
        self.assertEqual(rows, [("read", f"{program}:{place}", "take", 3)])
        self.assertGreater(report["lines"][0]["total_ns"], 3 * 15e6)
        self.assertEqual(outcome.trace.report("sync")["lines"], [])
        self.assertEqual(sum(row["calls"] for row in report["slow_calls"]), 4)


if __name__ == "__main__":
    harness.main()
