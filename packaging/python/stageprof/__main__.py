# SPDX-License-Identifier: Apache-2.0
"""python -m stageprof ...: the program `stageprof`, and `kernel install` for Jupyter."""

import os
import sys

from stageprof import kernel, program_path


def main():
    if sys.argv[1:2] == ["kernel"]:
        sys.exit(kernel.main(sys.argv[2:]))
    program = program_path("stageprof")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
