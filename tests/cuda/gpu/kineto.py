# SPDX-License-Identifier: Apache-2.0
"""The measured steps in torch.profiler's trace, which Kineto writes.

Read off pytorch/kineto (libkineto/src, 2022 to August 2026):
- All calls of the runtime are there except a blocklist (cudaGetDevice, cudaSetDevice,
  cudaGetLastError, making and destroying events). Only cuLaunchKernel and cuLaunchKernelEx of the
  driver are there, so graphs, copies, sets and cooperative kernels that a library gives the driver
  itself show as work that no call explains.
- Names come from CUPTI, their version cut off, since May 2026; before from a table that ends with
  CUDA 12.0. A later call, such as __cudaLaunchKernel of CUDA 13 (what `<<<>>>` is there), is
  "INVALID" then: its work shows what it was.
- A piece of work carries the correlation of its call; all works of a graph that of its launch.
"""

import json
import re
from collections import Counter, defaultdict

WINDOW = "measured steps"
GROUPS = {
    "launches": r"_*(cuda|cu)Launch(Cooperative)?Kernel",
    "graph_launches": r"_*(cuda|cu)GraphLaunch",
    "copies": r"_*(cuda|cu)Memcpy",
    "sets": r"_*(cuda|cu)Memset",
    "waits": r"_*(cuda(Stream|Device|Event|Thread|ExecutionCtx)|cu(Stream|Ctx|Event))Synchronize",
}
# For twice as long train.py gives the GPU nothing on either side of the window: clocks may differ.
EDGE_NS = 10_000_000
CALLS = ("cuda_runtime", "cuda_driver")
WORKS = {"kernel": "launches", "gpu_memcpy": "copies", "gpu_memset": "sets"}


class NoWindow(Exception):
    pass


def interval(event):
    return round(event["ts"] * 1000), round((event["ts"] + event.get("dur", 0)) * 1000)


def correlation(event):
    return event.get("args", {}).get("correlation")


def covered_ns(intervals):
    """The time in which any of them is, and from the first to the last."""
    busy, until = 0, 0
    for begin, end in sorted(intervals):
        busy += max(0, end - max(begin, until))
        until = max(until, end)
    return {"busy_ns": busy, "extent_ns": until - min(b for b, _ in intervals) if intervals else 0}


def group_of_work(work):
    return "graph_launches" if work["args"].get("graph node id") else WORKS[work["cat"]]


def group_of_call(call, works):
    for group, pattern in GROUPS.items():
        if re.match(pattern, call["name"]):
            return group
    return group_of_work(works[0]) if works else None


def outer_calls(calls):
    """Without the driver's calls inside one of the runtime, whatever their correlations."""
    threads = defaultdict(list)
    for call in calls:
        threads[call.get("pid"), call.get("tid")].append(call)
    for of_thread in threads.values():
        until = None
        for call in sorted(
            of_thread, key=lambda c: (interval(c)[0], c["cat"] == "cuda_driver", -interval(c)[1])
        ):
            if call["cat"] == "cuda_runtime":
                until = interval(call)[1]
                yield call
            elif until is None or interval(call)[1] > until:
                yield call


def gpu_time(works, graphs):
    """When the GPU was busy with `works`, by correlation; of these with launches of graphs."""
    of_graphs = [[interval(w) for w in works[number]] for number in graphs if number in works]
    rest = [interval(w) for number, found in works.items() if number not in graphs for w in found]
    each = [covered_ns(intervals) for intervals in of_graphs]
    return {
        **covered_ns(rest + [one for intervals in of_graphs for one in intervals]),
        "graph_launches": len(of_graphs),
        "graph_busy_ns": covered_ns([one for intervals in of_graphs for one in intervals])[
            "busy_ns"
        ],
        "graph_extent_ns": sum(one["extent_ns"] for one in each),
        "outside_graphs_ns": covered_ns(rest)["busy_ns"],
    }


def measured_steps(events):
    """Begin and end in ns, with the quiet before and after."""
    found = [e for e in events if e.get("name") == WINDOW and e.get("cat") == "user_annotation"]
    if len(found) != 1:
        raise NoWindow(f"{len(found)} windows in torch.profiler's trace")
    begin, end = interval(found[0])
    return begin - EDGE_NS, end + EDGE_NS


def read(path):
    """Calls by group and name, those known by their work alone, kernels, time on the GPU."""
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    begin, end = measured_steps(events)
    works = defaultdict(list)
    for event in events:
        if event.get("cat") in WORKS:
            works[correlation(event)].append(event)
    calls = [e for e in events if e.get("cat") in CALLS]
    explained = {correlation(call) for call in calls}
    inside = [c for c in calls if begin <= interval(c)[0] < end]
    names, graphs, seen = defaultdict(Counter), set(), set()
    for call in outer_calls(inside):
        number = correlation(call)
        group = group_of_call(call, works.get(number))
        if number and number in seen:
            continue
        seen.add(number)
        names[group or "others"][call["name"]] += 1
        if group == "graph_launches":
            graphs.add(number)
    # The queues are empty at either end, so that work inside was given inside.
    alone = {
        n
        for n, found in works.items()
        if n not in explained and begin <= interval(found[0])[0] < end
    }
    by_work = Counter(group_of_work(works[number][0]) for number in alone)
    launched = {correlation(call) for call in inside} | alone
    ran = {number: found for number, found in works.items() if number in launched}
    kernels = [interval(w) for found in ran.values() for w in found if w["cat"] == "kernel"]
    return {
        "calls": {group: sum(names[group].values()) for group in GROUPS},
        "by_work": {group: by_work[group] for group in GROUPS},
        "names": {group: dict(found) for group, found in names.items() if found},
        "kernels": {"calls": len(kernels), "total_ns": sum(e - b for b, e in kernels)},
        "gpu": gpu_time(ran, graphs),
    }
