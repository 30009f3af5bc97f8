# SPDX-License-Identifier: Apache-2.0
"""A program's own timers: rows of time that exclude each other, printed as JSON at the end.

They know nothing of stageprof. A row that begins inside another one stops that one's clock. Only
the thread that imported this module fills rows; `beside` has the work of other threads.
"""

import contextlib
import functools
import json
import threading
import time

from core_wait import core_wait_ns

now = time.perf_counter_ns
main = threading.get_ident()
rows = {}  # name -> [calls, ns]
core_waits = {}  # name -> ns that this thread waited for a core in the row
firsts = []  # ns of the loader's row until the first batch of each pass
beside = {}
open_rows = []  # OpenRow
count = {"steps": 0, "epochs": 0}
span = [None, None]  # from the first row to the last one


def add(table, name, ns):
    calls_ns = table.setdefault(name, [0, 0])
    calls_ns[0] += 1
    calls_ns[1] += ns


class OpenRow:
    def __init__(self, name, wait, at):
        self.name, self.ns, self.wait_ns = name, 0, 0
        self.go_on(wait, at)

    def go_on(self, wait, at):
        self.wait_since, self.since = wait, at

    def stop(self, wait, at):
        self.ns += at - self.since
        self.wait_ns += wait - self.wait_since


def close(opened):
    add(rows, opened.name, opened.ns)
    core_waits[opened.name] = core_waits.get(opened.name, 0) + opened.wait_ns


@contextlib.contextmanager
def row(name):
    if threading.get_ident() != main:
        begin = now()
        yield
        add(beside, name, now() - begin)
        return
    wait, begin = core_wait_ns(), now()
    span[0] = span[0] or begin
    if open_rows:
        open_rows[-1].stop(wait, begin)
    open_rows.append(OpenRow(name, wait, begin))
    try:
        yield
    finally:
        end, wait = now(), core_wait_ns()
        open_rows[-1].stop(wait, end)
        close(open_rows.pop())
        span[1] = end
        if open_rows:
            open_rows[-1].go_on(wait, end)


def inside(*names):
    return any(opened.name in names for opened in open_rows)


def outside(name, *others):
    """For timed(): this row, where none of the others is open."""
    return lambda: None if inside(*others) else name


def timed(name, function):
    """The function in a row; `name` may be a function that says the row, or None, at the call."""

    @functools.wraps(function)
    def call(*args, **names):
        told = name() if callable(name) else name
        if told is None:
            return function(*args, **names)
        with row(told):
            return function(*args, **names)

    return call


def patch(owner, attribute, name):
    setattr(owner, attribute, timed(name, getattr(owner, attribute)))


def batches(loader, name="loader_wait"):
    """The loader's batches; waiting for them is a row, and one pass is an epoch."""
    before = rows.get(name, [0, 0])[1]
    with row(name):
        iterator = iter(loader)
    is_first = name == "loader_wait" and threading.get_ident() == main
    while True:
        with row(name):
            batch = next(iterator, loader)
        if is_first:
            firsts.append(rows.get(name, [0, 0])[1] - before)
            is_first = False
        if batch is loader:
            break
        yield batch


def epochs(many):
    for number in range(many):
        count["epochs"] += 1
        yield number


def step():
    count["steps"] += 1


def truth():
    """All of it, as programs.py reads it."""
    ns = span[1] - span[0] if span[0] else 0
    return {
        "rows": rows,
        "firsts": firsts,
        "beside": beside,
        "core_waits": core_waits,
        "span": ns,
        **count,
    }


def show(**more):
    """Prints all. `more`: `why`, the right verdicts where rows do not tell; `loose`, rows that are
    not compared; `says`, words of the verdict; `tells`, such words and the share of the loader's
    row that the verdict has after them; `advises`, words of the advice; `denies`, words that both
    lack."""
    print(json.dumps({**truth(), **more}), flush=True)
