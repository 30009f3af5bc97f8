# SPDX-License-Identifier: Apache-2.0
"""Three reads of a pipe on the main thread, each of some 30 ms, and one on another thread."""

import os
import threading


def take(source):
    return os.read(source, 1)


def wait_for_a_byte():
    source, sink = os.pipe()
    threading.Timer(0.03, os.write, (sink, b"x")).start()
    take(source)


for _ in range(3):
    wait_for_a_byte()
other = threading.Thread(target=wait_for_a_byte)
other.start()
other.join()
