# SPDX-License-Identifier: Apache-2.0
"""Fetches batches from a loader that has PyTorch's names.

counted_program.py FETCHES MODE: the last line is JSON: calls of each function if MODE is cprofile,
and the program's own times of each part. heavy: nothing but calls;
steps…: a training loop without a loader: steps_cprofile; steps_forks: a process is forked in each
step; steps_tool: a tool of sys.monitoring is there;
raises: a fetch in three fails; debugged: under a trace function; profiled_inside: each item sets a
profile function.
"""

import cProfile
import json
import os
import sys
import time

sys.path.insert(0, os.environ["COUNTED_LOADER"])
from torch import autograd  # noqa: E402
from torch.optim.optimizer import Optimizer  # noqa: E402
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


class Descent(Optimizer):
    def step(self):
        recurse(10)


def differentiate():
    for _ in range(20):
        tiny(0)


def seen_in_child():
    """A child that is forked in the middle of a step finds no profiler."""
    tiny(0)
    tools = [sys.monitoring.get_tool(n) for n in range(6)] if hasattr(sys, "monitoring") else []
    os._exit(0 if sys.getprofile() is None and not any(tools) else 1)


def train(steps, mode):
    optimizer, failed = Descent(), 0
    for i in range(steps):
        work(i)
        begin = time.perf_counter_ns()
        chatter()
        parts["chatter"].append(time.perf_counter_ns() - begin)
        autograd.backward(differentiate)
        if mode == "steps_forks":
            child = os.fork()
            if child == 0:
                seen_in_child()
            failed += os.waitpid(child, 0)[1] != 0
        optimizer.step()
    return failed


def main_of_steps(steps, mode):
    profile, events = cProfile.Profile(), [0]
    if mode == "steps_tool":
        sys.monitoring.use_tool_id(3, "the program's")
        sys.monitoring.set_events(3, sys.monitoring.events.PY_START)
        sys.monitoring.register_callback(
            3, sys.monitoring.events.PY_START, lambda *_: events.append(events.pop() + 1)
        )
    if mode == "steps_cprofile":
        profile.enable()
    failed = train(steps, mode)
    # a window may be open: the first call that no step is so long as ends it
    time.sleep(1)
    tiny(0)
    profile.disable()
    calls = calls_of(profile) if mode == "steps_cprofile" else {}
    seen = [sys.getprofile() is None, sys.gettrace() is None]
    if hasattr(sys, "monitoring"):
        tools = [sys.monitoring.get_tool(n) for n in range(6) if n != 3]
        seen.append(not any(tools))
    print(json.dumps({"calls": calls, "failed": failed, "seen": seen, "events": events[0]}))


def main():
    fetches, mode = int(sys.argv[1]), sys.argv[2]
    if mode.startswith("steps"):
        return main_of_steps(fetches, mode)
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
