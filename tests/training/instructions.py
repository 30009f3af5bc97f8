"""Instructions of one timed call, all that is ours of it: making blocks and compressing them included.

Counted by callgrind as the difference between two runs; they must not grow unnoticed.
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
CALL_MOST = 800


def counted(calls, folder):
    """Instructions inside the library."""
    profile = os.path.join(folder, f"callgrind.{calls}")
    program = [sys.executable, os.path.join(training.HERE, "calls_program.py"), str(calls)]
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", *program]
    done = training.execute(tool, folder, STAGEPROF_FUNCTIONS="colorsys:rgb_to_yiq")
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode())
    shown = subprocess.run(
        ["callgrind_annotate", "--threshold=100", profile], stdout=subprocess.PIPE, check=True
    )
    rows = re.findall(r"^ *([\d,]+) .*libstageprof\.so\]$", shown.stdout.decode(), re.M)
    return sum(int(row.replace(",", "")) for row in rows)


class Instructions(unittest.TestCase):
    def test_call(self):
        with tempfile.TemporaryDirectory() as folder:
            each = (counted(MANY, folder) - counted(FEW, folder)) / (MANY - FEW)
        print(f"{each:.0f} instructions a timed call, at most {CALL_MOST}")
        # A call that is not recorded costs next to nothing: then this measures nothing.
        self.assertGreater(each, 100)
        self.assertLess(each, CALL_MOST)


if __name__ == "__main__":
    if not shutil.which("valgrind"):
        training.skip("no valgrind")
    unittest.main(argv=sys.argv[:1])
