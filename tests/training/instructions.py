# SPDX-License-Identifier: Apache-2.0
"""Instructions of one timed call, and of one marker of PyTorch: all that is ours of it, making
blocks included.

Counted by callgrind as the difference between two runs; they must not grow unnoticed. Packing and
compressing are counted apart and have a wider limit: they depend on the times in a block, so on the
machine's other work.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import training

FEW, MANY = 1000, 21000
CALL_MOST, MARK_MOST, PACK_MOST = 390, 365, 110
FAKE = os.path.join(training.HERE, "fake_torch")


def counted(script, calls, folder, **settings):
    """Instructions inside the library: those of each run alike, and those of packing times."""
    profile = os.path.join(folder, f"callgrind.{calls}")
    program = [sys.executable, os.path.join(training.HERE, script), str(calls)]
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", *program]
    done = training.execute(tool, folder, **settings)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode())
    shown = subprocess.run(
        ["callgrind_annotate", "--threshold=100", profile], stdout=subprocess.PIPE, check=True
    )
    row = r"^ *([\d,]+) .*?\)\s+(\S+):.*libstageprof\.so\]$"
    rows = re.findall(row, shown.stdout.decode(), re.M)
    alike = packing = 0
    for count, file in rows:
        count = int(count.replace(",", ""))
        if file.endswith("trace/numbers_pack.c") or file == "???":  # zstd has no lines
            packing += count
        else:
            alike += count
    return alike, packing


class Instructions(unittest.TestCase):
    def check(self, what, most, script, **settings):
        with tempfile.TemporaryDirectory() as folder:
            many, few = (counted(script, calls, folder, **settings) for calls in (MANY, FEW))
        each, packing = ((m - f) / (MANY - FEW) for m, f in zip(many, few))
        print(f"{each:.1f} instructions a {what}, at most {most}, and {packing:.1f} to pack it")
        self.assertLess(packing, PACK_MOST)
        # An unrecorded call costs next to nothing; then this test measures nothing.
        self.assertGreater(each, 100)
        self.assertLess(each, most)

    def test_call(self):
        self.check(
            "timed call", CALL_MOST, "calls_program.py", STAGEPROF_FUNCTIONS="colorsys:rgb_to_yiq"
        )

    def test_marker(self):
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, "libtorch_cpu.so")
            source = os.path.join(FAKE, "markers.c")
            subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
            self.check("marker", MARK_MOST, "marks_program.py", PYTHONPATH=FAKE, FAKE_TORCH=library)


if __name__ == "__main__":
    if not shutil.which("valgrind"):
        training.skip("no valgrind")
    unittest.main(argv=sys.argv[:1])
