# SPDX-License-Identifier: Apache-2.0
"""Functions that are compiled, called once and freed, so that code objects come to lie where others
were, until the process has used SECONDS of processor time; then one line of JSON with the time that
each took. argv: SECONDS"""

import json
import sys
import time

SOURCE = """
def {name}(end):
    while thread_time_ns() < end:
        pass
"""
MS = {"quick": 4, "second": 12, "lasting": 24}

own = {}


def call(name):
    made = {"thread_time_ns": time.thread_time_ns}
    exec(SOURCE.format(name=name), made)
    begin = time.monotonic_ns()
    made[name](time.thread_time_ns() + MS[name] * 1000000)
    own[name] = own.get(name, 0) + time.monotonic_ns() - begin


while time.process_time() < float(sys.argv[1]):
    for name in MS:
        call(name)
print(json.dumps(own))
