# SPDX-License-Identifier: Apache-2.0
"""Fetches batches from a loader that has PyTorch's names.

counted_program.py FETCHES MODE: the last line is JSON: calls of each function if MODE is cprofile,
and the program's own times of each part. heavy: nothing but calls;
raises: a fetch in three fails; debugged: under a trace function; profiled_inside: each item sets a
profile function.
"""

import cProfile
import json
import os
import sys
import time

sys.path.insert(0, os.environ["COUNTED_LOADER"])
from torch.utils.data._utils.fetch import _MapDatasetFetcher  # noqa: E402

parts = {"work": [], "chatter": []}
counted_work = []  # in fetches whose calls are counted, as far as sys.monitoring shows it


def spin(rounds):
    return sum(range(rounds))


def work(item):
    return spin(60000) + spin(30000 + item % 7)


def tiny(x):
    return x + 1


def chatter():
    x = 0
    for _ in range(100):
        x = tiny(x)
    return x


def recurse(n):
    return recurse(n - 1) if n else 0


def generate(n):
    for i in range(n):
        yield len("x" * i)


def is_counted():
    return hasattr(sys, "monitoring") and sys.monitoring.get_tool(4) is not None


class Dataset:
    def __getitem__(self, item):
        begin = time.perf_counter_ns()
        work(item)
        middle = time.perf_counter_ns()
        chatter()
        end = time.perf_counter_ns()
        parts["work"].append(middle - begin)
        if is_counted():
            counted_work.append(middle - begin)
        parts["chatter"].append(end - middle)
        recurse(5)
        try:
            fail(item)
        except ValueError:
            pass
        return list(generate(3 + item % 2))


def fail(item):
    raise ValueError(item)


def watch(*_event):
    return None


class Profiled(Dataset):
    def __getitem__(self, item):
        if sys.getprofile() is not watch:
            sys.setprofile(watch)
        return super().__getitem__(item)


class Heavy:
    def __getitem__(self, item):
        begin = time.perf_counter_ns()
        for _ in range(20):
            chatter()
        parts["chatter"].append(time.perf_counter_ns() - begin)
        return item


DATASETS = {"heavy": Heavy, "profiled_inside": Profiled}


def calls_of(profile):
    calls = {}
    for entry in profile.getstats():
        name = entry.code if isinstance(entry.code, str) else entry.code.co_name
        calls[name] = calls.get(name, 0) + entry.callcount
    return calls


def one_fetch(fetcher, i, mode):
    if mode == "raises" and i % 3 == 2:
        fetcher.dataset = None
    try:
        fetcher.fetch([2 * i, 2 * i + 1])
    except TypeError:
        fetcher.dataset = Dataset()
    if mode == "profiled_inside":
        kept = sys.getprofile() is watch
        sys.setprofile(None)
        return kept
    return mode != "debugged" or sys.gettrace() is watch


def main():
    fetches, mode = int(sys.argv[1]), sys.argv[2]
    fetcher = _MapDatasetFetcher(DATASETS.get(mode, Dataset)(), True, list, False)
    profile = cProfile.Profile()
    kept = 0
    if mode == "debugged":
        sys.settrace(watch)
    for i in range(fetches):
        if mode == "cprofile":
            profile.enable()
        kept += one_fetch(fetcher, i, mode)
        if mode == "cprofile":
            profile.disable()
    seen = [sys.getprofile() is None, mode == "debugged" or sys.gettrace() is None]
    if hasattr(sys, "monitoring"):
        seen.append(not any(sys.monitoring.get_tool(n) for n in range(6)))
    calls = calls_of(profile) if mode == "cprofile" else {}
    sums = {name: sum(times) for name, times in parts.items()}
    said = {"calls": calls, "parts": sums, "seen": seen, "kept": kept, "work": counted_work}
    print(json.dumps(said))


main()
