# SPDX-License-Identifier: Apache-2.0
"""Steps with something and without it take turns, block by block, in one process."""

import json
import time


def block(step, steps, spent):
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    for _ in range(steps):
        step()
    spent["wall_ns"].append(time.perf_counter_ns() - wall)
    spent["cpu_ns"].append(time.process_time_ns() - cpu)


def take(step, switch, pairs, steps, calls=None):
    """Prints what alternate.h says. switch(on); which comes first changes with every pair; the
    first step after a switch is in no block. calls: of a block; its steps, if not given."""
    spent = {on: {"wall_ns": [], "cpu_ns": []} for on in (False, True)}
    for pair in range(pairs):
        for on in (pair % 2 == 0, pair % 2 == 1):
            switch(on)
            step()
            block(step, steps, spent[on])
    switch(True)
    print(json.dumps({"calls": calls or steps, "bare": spent[False], "hooked": spent[True]}))
