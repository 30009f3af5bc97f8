# SPDX-License-Identifier: Apache-2.0
"""A program that nobody here wrote, against timers on PyTorch's calls in the same run.

    outside.py [--python PYTHON] [--stop-after SECONDS] SCRIPT [ARGUMENT...]

The script runs unmodified in the current folder, under stageprof and outside_timers.py. Prints rows
as programs.py does: reported, true, error; then the verdict, and whether the rows contradict it.
Status 1 where steps, epochs or a row is wrong, or the verdict is contradicted. --stop-after: Ctrl-C
comes then. Not judged are rows without timers here (the loss, logs, environments); forward and
evaluation where modules are called without gradients outside of a pass that validates (a teacher, a
rollout and a test look alike); waits and validation where a pass is left early and another follows;
checkpoints where files are loaded.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile

import programs
import training

TIMERS = os.path.join(training.HERE, "outside_timers.py")
KNOWN = {"loader_wait", "validation", "checkpoint"}  # rows of costs that have timers here
BUILT = os.path.join(training.ROOT, "build", "release")  # where the environment names no other
os.environ.setdefault("STAGEPROF_TEST_LIB", os.path.join(BUILT, "libstageprof.so"))
os.environ.setdefault("STAGEPROF_TEST_REPORT", os.path.join(BUILT, "stageprof-report"))


class Pass:
    """One iterator over a DataLoader; it ends where it says so, or at the next pass."""

    def __init__(self, begin):
        self.begin, self.last, self.batches, self.is_whole = begin, begin, 0, False

    def add(self, end, is_batch):
        self.last = end
        self.batches += is_batch
        self.is_whole |= not is_batch


def passes_of(events):
    """By their numbers."""
    found = {}
    for kind, begin, end, *_, detail in events:
        if kind == "pass":
            found[detail] = Pass(begin)
        elif kind == "batch" and detail[0] in found:
            found[detail[0]].add(end, detail[1])
    return found


def validates(one, backwards, end):
    """Batches without a backward until its end, or until `end` where it is left early."""
    until = one.last if one.is_whole else end
    return bool(one.batches) and not any(one.begin < begin < until for begin in backwards)


def validating(events):
    """The numbers of the passes that validate."""
    backwards = [begin for kind, begin, *_ in events if kind == "backward"]
    passes = passes_of(events)
    begins = sorted(one.begin for one in passes.values())
    last = events[-1][2]
    following = dict(zip(begins, begins[1:] + [last]))
    return {n for n, one in passes.items() if validates(one, backwards, following[one.begin])}


class Truth:
    """Rows of [calls, ns], their waits for a core, steps and epochs of a run, by its events."""

    def __init__(self, events):
        self.rows, self.core_waits, self.steps, self.loose = {}, {}, 0, set()
        self.passes, self.aside = passes_of(events), validating(events)
        self.pending, self.has_backward, self.has_stepped = [], False, False
        for event in events:
            if not self.is_aside(event):
                getattr(self, "take_" + event[0])(event)
            elif event[0] in ("pass", "batch"):
                self.add_wait("validation", event[4])
        for number in self.aside:
            self.add("validation", self.passes[number].last - self.passes[number].begin)
        used = [one for number, one in self.passes.items() if number not in self.aside]
        self.trained = [one for one in used if one.batches]
        if any(not one.is_whole for one in list(self.passes.values())[:-1]):
            self.loose |= {"loader_wait", "validation", "forward", "evaluation"}

    def is_aside(self, event):
        kind, begin, *_, detail = event
        if kind in ("pass", "batch"):
            return (detail if kind == "pass" else detail[0]) in self.aside
        passes = [self.passes[number] for number in self.aside]
        return any(one.begin <= begin < one.last for one in passes)

    def add(self, row, ns):
        calls_ns = self.rows.setdefault(row, [0, 0])
        calls_ns[0] += 1
        calls_ns[1] += ns

    def add_wait(self, row, ns):
        self.core_waits[row] = self.core_waits.get(row, 0) + ns

    def add_event(self, row, event):
        self.add(row, event[3])
        self.add_wait(row, event[4])

    def take_pass(self, event):
        self.add_event("loader_wait", event)

    def take_batch(self, event):
        self.add_event("loader_wait", event)
        if self.pending:
            self.loose |= {"evaluation", "forward"}
        self.pending, self.has_stepped = [], False

    def take_call(self, event):
        if event[5]:
            self.pending.append(event)
        else:
            self.loose |= {"evaluation", "forward"}

    def take_backward(self, event):
        for call in self.pending:
            self.add_event("forward", call)
        self.pending, self.has_backward = [], True
        self.add_event("backward", event)

    def take_optimizer(self, event):
        self.add_event("optimizer", event)
        if self.has_backward and not (self.has_stepped and self.passes):
            self.steps += 1
            self.has_stepped = True
        self.has_backward = False

    def take_save(self, event):
        self.add_event("checkpoint", event)

    def take_load(self, event):
        self.loose.add("checkpoint")

    def epochs(self):
        return len(self.trained) if all(one.is_whole for one in self.trained) else None


def truth_of(events):
    """In the form of a program's own truth."""
    truth = Truth(sorted(events, key=lambda event: event[1]))
    return {
        "rows": truth.rows,
        "steps": truth.steps,
        "epochs": truth.epochs() if truth.trained else None,
        "span": max(event[2] for event in events) - min(event[1] for event in events),
        "loose": sorted(truth.loose),
        "core_waits": truth.core_waits,
    }


def finish(program, seconds):
    try:
        program.wait(seconds)
    except subprocess.TimeoutExpired:
        program.send_signal(signal.SIGINT)
        program.wait()


def run(python, command, seconds):
    """The timers' events and the summary of a run, which may be stopped after `seconds`."""
    with tempfile.TemporaryDirectory() as folder:
        path, run_path = os.path.join(folder, "events.json"), os.path.join(folder, "run.zst")
        recorded = {"LD_PRELOAD": os.environ["STAGEPROF_TEST_LIB"], "STAGEPROF_OUTPUT": run_path}
        whole = [python, TIMERS, path, *command]
        program = subprocess.Popen(whole, env={**os.environ, **recorded})
        finish(program, seconds)
        if not os.path.exists(path):
            sys.exit(f"{command[0]}: status {program.returncode}, no events: run it alone first")
        with open(path) as file:
            return json.load(file), training.report("summary", run_path)


def is_contradicted(code, truth):
    """True where a cost that the verdict names is far below its limit, or any cost is far above its
    own and the verdict is compute-bound. The rows know nothing about the other verdicts."""
    for codes, parts, least in programs.COSTS:
        known = [part for part in parts if part in KNOWN and part not in truth["loose"]]
        share = sum(truth["rows"].get(part, (0, 0))[1] for part in known) / truth["span"]
        if code == "compute-bound" and share >= (1 + programs.NEAR) * least:
            return True
        if code in codes and known and share < (1 - programs.NEAR) * least:
            return True
    return False


def compare(name, truth, summary):
    """Prints all; returns whether nothing is wrong."""
    verdict = summary["verdict"]
    lines = list(programs.compare(truth, summary))
    is_wrong = is_contradicted(verdict["code"], truth)
    programs.show_lines(name, lines, every=True)
    answer = "CONTRADICTED by the rows" if is_wrong else "not contradicted"
    print(f"{name:24} {verdict['code']} ({verdict['confidence']}): {answer}")
    return not is_wrong and all(line.right for line in lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python")
    parser.add_argument("--stop-after", type=float)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if not arguments.command:
        parser.error("no script is named")
    python = arguments.python or training.interpreter()
    events, summary = run(python, arguments.command, arguments.stop_after)
    if not events:
        sys.exit(f"{arguments.command[0]}: its main thread called nothing of PyTorch")
    name = os.path.basename(arguments.command[0])[:24]
    sys.exit(0 if compare(name, truth_of(events), summary) else 1)


if __name__ == "__main__":
    main()
