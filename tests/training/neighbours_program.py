# SPDX-License-Identifier: Apache-2.0
"""A step next to others who look on, from torch.compile to coverage. Prints what they saw."""

import collections
import json
import os
import sys
import tempfile

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.linear(x))


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)


def step(function=model):
    optimizer.zero_grad()
    with torch.profiler.record_function("forward"):
        loss = function(torch.ones(2, 4)).sum()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()


def compiled():
    from torch._dynamo.utils import counters

    whole = torch.compile(model, backend="eager", fullgraph=True)
    for _ in range(3):
        step(whole)
    print(sorted(counters["stats"].items()), len(counters["graph_break"]))
    # Through functions and methods that are timed, too.
    everything = torch.compile(step, backend="eager")
    for _ in range(3):
        everything()
    print(sorted(counters["stats"].items()), len(counters["graph_break"]))


def profiled():
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        for _ in range(3):
            step()
    print(sorted((event.key, event.count) for event in profile.key_averages()))


def watched():
    step()  # has imports inside, which ask one finder more
    seen = []
    sys.setprofile(lambda frame, event, argument: seen.append((frame.f_code.co_name, event)))
    step()
    sys.setprofile(None)
    # Where a timed call stands for a Python function, its C code is not seen, the function is.
    print(sum(event == "call" for _name, event in seen))


def observed():
    """A program with a callback of its own for everything that PyTorch marks."""
    from torch.profiler import ExecutionTraceObserver

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "seen.json")
        observer = ExecutionTraceObserver().register_callback(path)
        observer.start()
        for _ in range(3):
            step()
        observer.stop()
        observer.unregister_callback()
        with open(path) as file:
            seen = collections.Counter(node["name"] for node in json.load(file)["nodes"])
    print(sorted(seen.items()))


def covered():
    import coverage

    lines = coverage.Coverage(data_file=None, include=[__file__])
    lines.start()
    for _ in range(3):
        step()
    lines.stop()
    print(sorted(lines.get_data().lines(__file__)))


PROGRAMS = {
    "compile": compiled,
    "profiler": profiled,
    "setprofile": watched,
    "observer": observed,
    "coverage": covered,
}
PROGRAMS[sys.argv[1]]()
