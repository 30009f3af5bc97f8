# SPDX-License-Identifier: Apache-2.0
"""Functions that take known shares of their thread's time, until the process has used SECONDS of
processor time; then one line of JSON with the time that each took by the program's own clock. argv:
SECONDS [fork]"""

import json
import os
import sys
import threading
import time

own = {}


def spin(name, ms):
    begin = time.monotonic_ns()
    end = time.thread_time_ns() + ms * 1000000
    while time.thread_time_ns() < end:
        pass
    own[name] = own.get(name, 0) + time.monotonic_ns() - begin


def ten():
    spin("ten", 10)


def twenty():
    spin("twenty", 20)


def forty():
    ten_inside()
    spin("forty", 30)


def ten_inside():
    spin("ten_inside", 10)


def generate():
    while True:
        spin("generate", 5)
        yield


def sleep_long():
    time.sleep(600)


def be_forked(seconds):
    while time.process_time() < seconds:
        sum(range(10000))


def main():
    seconds = float(sys.argv[1])
    child = os.fork() if "fork" in sys.argv else None
    if child == 0:
        be_forked(seconds)
        os._exit(0)
    threading.Thread(target=sleep_long, daemon=True).start()
    generator = generate()
    while time.process_time() < seconds:
        ten()
        twenty()
        forty()
        next(generator)
    if child:
        os.waitpid(child, 0)
    print(json.dumps(own))


main()
