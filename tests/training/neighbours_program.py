"""A step next to others who look on: torch.compile, torch.profiler, sys.setprofile. Prints what they saw."""

import sys

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
    print(sum(event == "call" for _, event in seen))


{"compile": compiled, "profiler": profiled, "setprofile": watched}[sys.argv[1]]()
