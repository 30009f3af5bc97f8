# SPDX-License-Identifier: Apache-2.0
"""python -m stageprof ...: the program `stageprof`."""

import os
import sys

from stageprof import program_path, unfit


def refuse(reason):
    """The training matters more than its record: the command runs without it."""
    words = sys.argv[1:]
    if words[:1] == ["run"] and "--" in words:
        command = words[words.index("--") + 1 :]
        print(f"stageprof: {reason}; {command[0]} runs unrecorded", file=sys.stderr)
        os.execvp(command[0], command)
    sys.exit(f"stageprof: {reason}")


def main():
    reason = unfit()
    if reason:
        refuse(reason)
    program = program_path("stageprof")
    words = sys.argv[1:]
    if words[:1] == ["kernel"]:  # the kernel of this Python, and not of the first one on PATH
        words.insert(1, f"--python={sys.executable}")
    os.execv(program, [program, *words])


if __name__ == "__main__":
    main()
