# SPDX-License-Identifier: Apache-2.0
"""python -m stageprof ...: the program `stageprof`, and `kernel install` for Jupyter."""

import os
import sys

from stageprof import kernel, program_path, unfit


def refuse(reason):
    """The training matters more than its record: the command runs without it."""
    words = sys.argv[1:]
    if words[:1] == ["run"] and "--" in words:
        command = words[words.index("--") + 1 :]
        print(f"stageprof: {reason}; {command[0]} runs unrecorded", file=sys.stderr)
        os.execvp(command[0], command)
    sys.exit(f"stageprof: {reason}")


def main():
    if sys.argv[1:2] == ["kernel"]:
        sys.exit(kernel.main(sys.argv[2:]))
    reason = unfit()
    if reason:
        refuse(reason)
    program = program_path("stageprof")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
