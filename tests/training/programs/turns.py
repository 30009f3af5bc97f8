# SPDX-License-Identifier: Apache-2.0
"""How far a program's own timer may be from another one: by turns of other programs on its core."""

import resource


def waited_ns():
    """How long this thread waited for a core so far. 0 where the kernel does not count."""
    try:
        with open("/proc/thread-self/schedstat") as file:
            return int(file.read().split()[1])
    except OSError:
        return 0


def turn_ns():
    """How long this thread waited for a core each time that another program got its core: the
    mean."""
    switches = resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw
    return waited_ns() // max(1, switches)
