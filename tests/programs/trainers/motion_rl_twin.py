# SPDX-License-Identifier: Apache-2.0
"""motion_rl.py with a timer inside each label, and one around it.

python3 motion_rl_twin.py FOLDER TIMERS.json
"""

import contextlib
import sys

import motion_rl
from timers import Timers

LABELS = "iteration|motion sampling|rollout|policy|physics|learning|advantages|loss|optimize".split(
    "|"
)
timers = Timers([*LABELS, *("around " + name for name in LABELS)])


class TimedTrainer(motion_rl.Trainer):
    @staticmethod
    @contextlib.contextmanager
    def label(name):
        with timers("around " + name), motion_rl.Trainer.label(name), timers(name):
            yield


if __name__ == "__main__":
    motion_rl.main(TimedTrainer)
    timers.write(sys.argv[2])
