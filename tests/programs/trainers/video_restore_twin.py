# SPDX-License-Identifier: Apache-2.0
"""video_restore.py with a timer around the forward of each block.

    python3 video_restore_twin.py TIMERS.json
"""

import sys

import video_restore as plain
from timers import Timers

BLOCKS = ["encoder", "attention", "fusion", *(f"stages.{i}" for i in range(plain.STAGES))]
timers = Timers(["model", *BLOCKS])


def timed(module, name):
    forward = module.forward

    def call(*args):
        with timers(name):
            return forward(*args)

    module.forward = call


class TimedRestorer(plain.Restorer):
    def __init__(self):
        super().__init__()
        for name in BLOCKS:
            timed(self.get_submodule(name), name)
        timed(self, "model")


if __name__ == "__main__":
    plain.main(TimedRestorer)
    timers.write(sys.argv[1])
