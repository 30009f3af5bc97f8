# SPDX-License-Identifier: Apache-2.0
"""Instructions of one timed call, and of one marker of PyTorch, by callgrind: the difference
between two runs. They must not grow unnoticed.

Making blocks (encoding, packing, compressing, framing) is counted apart and has a wider limit: it
depends on the times in a block, so on the machine's other work. The rest is the same in each run.
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
CALL_MOST, MARK_MOST, BLOCK_MOST = 330, 300, 180
BLOCK = re.compile(
    r"trace/(numbers_pack|encode_\w+)\.c:|preload/blocks/(frame|pack|publish|stream)\.c:"
    r"|preload/recorder/full_window\.c:|xxhash\.h:XXH"
    r"|trace/arenas/"  # start-up looks at all shared memory of the machine
    r"|\?\?\?:"  # zstd has no lines
)
FAKE = os.path.join(training.HERE, "fake_torch")
# A start collects what killed processes have left, and hashes it: none is there in a namespace.
ALONE = ["unshare", "--ipc"]
if os.geteuid() or not shutil.which(ALONE[0]) or subprocess.run([*ALONE, "true"]).returncode:
    ALONE = []


def counted(script, calls, folder, **settings):
    """Instructions inside the library: those of the calls, and those of making blocks."""
    profile = os.path.join(folder, f"callgrind.{calls}")
    program = [sys.executable, os.path.join(training.HERE, script), str(calls)]
    tool = [*ALONE, "valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", *program]
    done = training.execute(tool, folder, **settings)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode())
    shown = subprocess.run(
        ["callgrind_annotate", "--threshold=100", profile], stdout=subprocess.PIPE, check=True
    )
    row = r"^ *([\d,]+) .*?\)\s+(\S+:\S+).*libstageprof\.so\]$"
    rows = re.findall(row, shown.stdout.decode(), re.M)
    counts = [(int(count.replace(",", "")), BLOCK.search(place)) for count, place in rows]
    blocks = sum(count for count, is_block in counts if is_block)
    return sum(count for count, _ in counts) - blocks, blocks


class Instructions(unittest.TestCase):
    def check(self, what, most, script, **settings):
        with tempfile.TemporaryDirectory() as folder:
            many, few = (counted(script, calls, folder, **settings) for calls in (MANY, FEW))
        each, blocks = ((m - f) / (MANY - FEW) for m, f in zip(many, few))
        print(f"{each:.1f} instructions a {what}, at most {most}, and {blocks:.1f} for its part of a block")
        self.assertLess(blocks, BLOCK_MOST)
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
