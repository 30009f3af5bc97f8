# SPDX-License-Identifier: Apache-2.0
"""Functions of many sorts, for SECONDS: nested, generators, coroutines, threads, and C functions
that release the GIL. One line of JSON, for each of two threads: the time that each function was on
a processor or ready for one, by the kernel's own counts of its thread. argv: SECONDS"""

import asyncio
import hashlib
import json
import sys
import threading
import time
import zlib

BLOCK = bytes(range(256)) * 4096
LONG_BLOCK = BLOCK * 16  # seldom to wait for the GIL

true = {}


def spent():
    """ns of this thread: on a processor, and ready for one."""
    with open("/proc/thread-self/schedstat") as file:
        return time.thread_time_ns() + int(file.read().split()[1])


def spin(name, ms):
    begin = spent()
    end = time.thread_time_ns() + ms * 1000000
    while time.thread_time_ns() < end:
        pass
    true[name] = true.get(name, 0) + spent() - begin


def in_c(name, ms, function, block):
    begin = spent()
    end = time.thread_time_ns() + ms * 1000000
    while time.thread_time_ns() < end:
        function(block)
    true[name] = true.get(name, 0) + spent() - begin


def plain():
    spin("plain", 12)


def outer():
    inner()
    spin("outer", 12)


def inner():
    spin("inner", 8)


def recursive(depth):
    if depth:
        recursive(depth - 1)
    else:
        spin("recursive", 6)


def generate():
    while True:
        spin("generate", 10)
        yield


async def await_first():
    spin("await_first", 5)
    await asyncio.sleep(0)


async def await_second():
    spin("await_second", 9)
    await asyncio.sleep(0)


async def await_both():
    await asyncio.gather(await_first(), await_second())


def in_hash():
    in_c("in_hash", 20, lambda block: hashlib.sha256(block).digest(), BLOCK)


def in_crc():
    in_c("in_crc", 60, zlib.crc32, LONG_BLOCK)


def in_adler():
    in_c("in_adler", 20, zlib.adler32, LONG_BLOCK)


def in_thread(end):
    while time.monotonic() < end:
        in_crc()
        in_adler()


def main():
    end = time.monotonic() + float(sys.argv[1])
    thread = threading.Thread(target=in_thread, args=(end,))
    thread.start()
    generator = generate()
    while time.monotonic() < end:
        plain()
        outer()
        recursive(20)
        next(generator)
        asyncio.run(await_both())
        in_hash()
    thread.join()
    own = {name: true.pop(name) for name in ("in_crc", "in_adler")}
    print(json.dumps([true, own]))


main()
