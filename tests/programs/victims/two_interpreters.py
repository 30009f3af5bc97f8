# SPDX-License-Identifier: Apache-2.0
"""A function of a second interpreter, called by the first on its thread, until the process has used
SECONDS of processor time; then one line of JSON with the time that each function was on a processor
or ready for one. Exits 77 without interpreters. argv: SECONDS"""

import json
import os
import sys
import time

try:
    import _interpreters as interpreters
except ImportError:
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        sys.exit(77)

SOURCE = """
import os, time
def spent():
    with open("/proc/thread-self/schedstat") as file:
        return time.thread_time_ns() + int(file.read().split()[1])
def {name}(ms):
    begin = spent()
    end = time.thread_time_ns() + ms * 1000000
    while time.thread_time_ns() < end:
        pass
    os.write({pipe}, b"%d " % (spent() - begin))
"""

first = {}
exec(SOURCE.format(name="in_first", pipe=0), first)


def call_first(ms, pipe):
    first["os"] = type("os", (), {"write": lambda _, data: os.write(pipe, data)})
    first["in_first"](ms)


class Second:
    """An interpreter with one function."""

    def __init__(self, name):
        self.reader, self.writer = os.pipe()
        self.name, self.id = name, interpreters.create()
        interpreters.run_string(self.id, SOURCE.format(name=name, pipe=self.writer))

    def spin(self, ms):
        interpreters.run_string(self.id, f"{self.name}({ms})")

    def spent(self):
        os.close(self.writer)
        with open(self.reader, "rb") as pipe:
            return sum(map(int, pipe.read().split()))


def main():
    reader, writer = os.pipe()
    second = Second("in_second")
    while time.process_time() < float(sys.argv[1]):
        call_first(5, writer)
        second.spin(15)
    os.close(writer)
    with open(reader, "rb") as pipe:
        own = sum(map(int, pipe.read().split()))
    print(json.dumps({"in_first": own, "in_second": second.spent()}))


main()
