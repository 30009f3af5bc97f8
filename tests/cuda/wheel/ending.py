# SPDX-License-Identifier: Apache-2.0
"""Imported by trainings on the bed: a process ends only when autograd's threads are idle.

backward() returns before autograd's thread has dropped the context of Python that PyTorch gives it
for each backward. A Python that ends meanwhile ends that thread where C++ allows no exception:
"terminate called without an active exception", SIGABRT. A busy machine does that in one run of 100.
"""

import atexit
import os
import sys
import time

TASKS = "/proc/self/task"
SECONDS = 10  # an idle wait takes some ms; a thread that hangs should fail its test, not stop it


def is_idle(task):
    """Sleeps, in a process whose other threads hold nothing, or has ended."""
    try:
        with open(os.path.join(TASKS, task, "stat")) as file:
            stat = file.read()
    except OSError:
        return True
    name, state = stat[stat.index("(") + 1 : stat.rindex(")")], stat[stat.rindex(")") + 2]
    return not name.startswith("pt_autograd") or state in "SZX"


def wait_for_autograd():
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        time.sleep(0.01)  # without the interpreter's lock, which the threads may want
        if all(is_idle(task) for task in os.listdir(TASKS)):
            return
    print(f"autograd's threads are not idle after {SECONDS} s", file=sys.stderr)


atexit.register(wait_for_autograd)
