# SPDX-License-Identifier: Apache-2.0
"""Three reads of a pipe on the main thread, each of some 30 ms, and one on another thread."""

import os
import threading
import time


def take(source):
    return os.read(source, 1)


def is_waiting_for(pipe, thread):
    """A delay that began earlier would be shorter for a reader that came late to a core."""
    with open(f"/proc/self/task/{thread}/syscall") as file:
        return file.read().split()[1:2] == [hex(pipe)]


def write_later(reader, source, sink):
    while not is_waiting_for(source, reader):
        time.sleep(0.001)
    time.sleep(0.03)
    os.write(sink, b"x")


def wait_for_a_byte():
    source, sink = os.pipe()
    writer = threading.Thread(target=write_later, args=(threading.get_native_id(), source, sink))
    writer.start()
    take(source)
    writer.join()


for _ in range(3):
    wait_for_a_byte()
other = threading.Thread(target=wait_for_a_byte)
other.start()
other.join()
