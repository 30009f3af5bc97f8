# SPDX-License-Identifier: Apache-2.0
"""native_code.py SECONDS: functions that compute in zlib, in libcrypto and in Python itself.

The last line is JSON: the processor time of each, and the libraries of the first two as they are
mapped."""

import hashlib
import json
import os
import re
import sys
import time
import zlib

BLOCK = os.urandom(1 << 18)


def squeeze():
    zlib.compress(BLOCK, 9)


def digest():
    for _ in range(8):
        hashlib.sha256(BLOCK).digest()


def count():
    number = 0
    for i in range(50_000):
        number += i * i


def mapped(name):
    with open("/proc/self/maps") as file:
        found = re.search(rf"/({name}[^/\n]*\.so[^/\n]*)\n", file.read())
    return found and found[1]


def main():
    took = {"squeeze": 0, "digest": 0, "count": 0}
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        for function in (squeeze, digest, count):
            begin = time.thread_time_ns()
            function()
            took[function.__name__] += time.thread_time_ns() - begin
    libraries = {"squeeze": mapped("libz"), "digest": mapped("libcrypto")}
    print(json.dumps({"took": took, "libraries": libraries}))


main()
