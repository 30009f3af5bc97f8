# SPDX-License-Identifier: Apache-2.0
"""The time that a thread waited for a core.

Other programs may get the core between the readings of a program's own clock and the recorder's.
The two are then apart by that time at most.
"""

import ctypes
import os
import platform

PREAD = {"x86_64": 17, "aarch64": 67}.get(platform.machine())  # number of the system call
ROOM = 64

# This way to call keeps Python's lock, and the recorder's hooks do not see it.
syscall = ctypes.PyDLL(None).syscall
syscall.argtypes = [ctypes.c_long] * 2 + [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_long]
syscall.restype = ctypes.c_long
text = ctypes.create_string_buffer(ROOM)


def opened():
    """The kernel's counts of this thread; None where it does not count, or on another machine."""
    try:
        return PREAD and os.open("/proc/thread-self/schedstat", os.O_RDONLY)
    except OSError:
        return None


descriptor = opened()


def core_wait_ns():
    """How long the thread that imported this module waited for a core so far. 0 where the
    kernel does not count."""
    if descriptor is None:
        return 0
    size = syscall(PREAD, descriptor, text, ROOM, 0)
    return int(text.raw[:size].split()[1]) if size > 0 else 0
