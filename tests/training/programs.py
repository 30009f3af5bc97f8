# SPDX-License-Identifier: Apache-2.0
"""Programs as their users shape them (programs/), each against the timers that it carries.

    programs.py [--packages] [--planted] [--table] [--resume FILE] [--calibration FILE] [NAME...]

Each program prints what is true of its run: steps, epochs, and rows of time. One line is printed
for each row: program, row, reported, true, error, and for each program its verdict. The test fails
where steps or epochs differ, where a row is off by more than 5%, 5 µs a call, the thread's wait for
a core in the row and the recorder's work on blocks, unless the report marks it as residual, and
where a verdict is false. --packages: those that need packages of PyPI too, by the interpreter in
build/venv-programs.
--planted: the trainers with a planted fault count for the calibration, too.
--table: print all rows, not only those that are wrong. --resume: a program whose outcome is in FILE
is not run again, and others are added to it. --calibration writes the table verdict x confidence x
right into FILE, between its marks.
"""

import argparse
import collections
import glob
import json
import os
import re
import sys
import tempfile

import training

FOLDER = os.path.join(training.HERE, "programs")
PACKAGES = os.path.join(training.ROOT, "build", "venv-programs", "bin", "python")
# The programs of the default run: at most some 20 s together.
FAST = ["accumulation", "background", "by_steps", "pipe_lines", "recipes/arrays_saved"]
PLANTED = "planted/"  # begins the names of those trainers
ABSENT = 0.001  # share of the span that the report may show in a row that a program lacks
ALWAYS = [
    "loader_wait",
    "forward",
    "backward",
    "optimizer",
    "checkpoint",
    "evaluation",
    "validation",
]
INPUT = {"input-bound", "decode-bound", "storage-bound"}
# The code that says nothing: right where the truth is not a clear one.
ABSTAINS = {"cannot-tell"}
# cost of a rule: its codes, the rows that it is made of, and the share from which on it holds. The
# program's own environment or replay memory has no name that a report could know: both codes fit.
# A run has one start: the first batch of the first epoch has to cost more than restarts.
COSTS = [
    (INPUT | {"cpu-oversubscribed"}, ["loader_wait", "own_input"], 0.05),
    ({"first-batch-bound", "cpu-oversubscribed"}, ["restart"], 0.05),
    ({"first-batch-bound", "cpu-oversubscribed"}, ["first", "restart"], 0.20),
    ({"checkpoint-bound", "load-bound"}, ["checkpoint", "own_load"], 0.05),
    ({"validation-bound"}, ["validation"], 0.25),
    ({"evaluation-bound"}, ["evaluation", "environment", "own_environment"], 0.25),
    ({"communication-bound"}, ["grad_sync"], 0.05),
    ({"compile-bound"}, ["compile"], 0.20),
    ({"loop-bound"}, ["bookkeeping", "own_environment", "own_input", "own_update", "own_message", "rest"], 0.05),
]
NEAR = 0.25  # of a threshold, or of the greatest cost: either answer is right


def rows_of(truth):
    """The program's own rows. `rest` is the loop's own code; the waits for the first batch of the
    first epoch and of later ones are rows of their own."""
    rows = {name: ns for name, (_, ns) in truth["rows"].items()}
    rows["rest"] = max(truth["span"] - sum(rows.values()), 0)
    rows["first"], rows["restart"] = sum(truth["firsts"][:1]), sum(truth["firsts"][1:])
    rows["loader_wait"] = rows.get("loader_wait", 0) - rows["first"] - rows["restart"]
    return rows


def right_verdicts(truth):
    """The codes that the program's own rows allow."""
    if "why" in truth:
        return set(truth["why"])
    rows = rows_of(truth)
    span = max(truth["span"], 1)
    costs = [
        (codes, sum(rows.get(row, 0) for row in parts) / span, least)
        for codes, parts, least in COSTS
    ]
    holding = [cost for _, cost, least in costs if cost >= (1 + NEAR) * least]
    most = max(holding, default=0)
    allowed = {"compute-bound"} if not holding else set()
    for codes, cost, least in costs:
        if cost >= (1 - NEAR) * least and cost >= (1 - NEAR) * most:
            allowed |= codes
    return allowed


Outcome = collections.namedtuple("Outcome", "name code confidence right wrong")


class Line:
    def __init__(self, row, found, true, right):
        self.row, self.found, self.true, self.right = row, found, true, right


def compare_counts(truth, summary):
    steps = summary["steps"]["count"] or 0
    yield Line("steps", steps, truth["steps"], steps == truth["steps"])
    if truth["epochs"] is not None:
        epochs = summary["steps"]["epochs"]
        yield Line("epochs", epochs, truth["epochs"], epochs == truth["epochs"])


def compare_rows(truth, summary):
    account = {row["part"]: row for row in summary["account"] or []}
    for part, row in account.items():
        calls, ns = truth["rows"].get(part, (0, 0))
        if part in truth.get("loose", []) or (part not in ALWAYS and not calls):
            continue
        found = row["ns"] or 0
        core_wait_ns = truth["core_waits"].get(part, 0)
        allowed = training.allowed_ns(calls, ns, core_wait_ns, summary["own_cost"])
        right = abs(found - ns) <= (allowed if calls else ABSENT * truth["span"])
        if ns or not right:
            residual = row["source"] == "residual"
            yield Line(part + (" (residual)" if residual else ""), found, ns, right or residual)


def compare(truth, summary):
    """The lines of a program; there is no account where there are no steps."""
    yield from compare_counts(truth, summary)
    if truth["steps"]:
        yield from compare_rows(truth, summary)


def run(name, python):
    """The program's last line and the summary of its run; None and a text where it failed."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(FOLDER, name + ".py")
        os.environ.update(PYTHONPATH=FOLDER, HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="")
        done = training.execute([python, path], folder)
        if done.returncode:
            return None, done.stderr.decode()[-2000:]
        truth = json.loads(done.stdout.decode().strip().split("\n")[-1])
        return truth, training.report("summary", os.path.join(folder, "run.zst"))


def shown(value):
    return f"{value / 1e6:.2f} ms" if value >= 10000 else str(value)


def show_lines(name, lines, every):
    for line in lines:
        if every or not line.right:
            error = f"{100 * (line.found / line.true - 1):+.1f}%" if line.true else "-"
            mark = "" if line.right else "  WRONG"
            found, true = shown(line.found), shown(line.true)
            print(f"{name:24} {line.row:24} {found:>12} {true:>12} {error:>9}{mark}")


def show(name, lines, verdict, right, every):
    show_lines(name, lines, every)
    answer = "right" if right else "abstains" if right is None else "WRONG"
    if every or right is False:
        print(f"{name:24} {verdict['code']} ({verdict['confidence']}): {answer}", flush=True)


def tells(truth, text):
    """The verdict has the program's own share, or less by what waited for a core."""
    if "tells" not in truth:
        return True
    words, true = truth["tells"]
    found = re.search(re.escape(words) + r"([\d.]+)%", text)
    waits = truth["core_waits"].get("loader_wait", 0) / truth["rows"]["loader_wait"][1]
    off = float(found[1]) / 100 - true if found else 1
    if -training.SHARE - waits <= off <= training.SHARE:
        return True
    print(f"not \"{words}{true:.1%}\", {waits:.1%} waited for a core: {text}", flush=True)
    return False


def judge(name, python, arguments):
    """Runs one program; returns its outcome, or None where a package is missing."""
    truth, summary = run(name, python)
    if truth is None and "ModuleNotFoundError" in summary:
        print(f"{name:24} skipped: {summary.strip().splitlines()[-1]}", flush=True)
        return None
    if truth is None:
        print(f"{name:24} failed:\n{summary}", flush=True)
        return Outcome(name, None, None, None, ["it failed"])
    lines, verdict = list(compare(truth, summary)), summary["verdict"]
    allowed = right_verdicts(truth)
    right = verdict["code"] in allowed or (None if verdict["code"] in ABSTAINS else False)
    show(name, lines, verdict, right, arguments.table)
    if right is False:
        print(f"{'':24} true: {', '.join(sorted(allowed))}", flush=True)
    wrong = [line.row for line in lines if not line.right] + ["verdict"] * (right is False)
    if right and truth.get("says", "") not in verdict["text"]:
        print(f"{name:24} does not say \"{truth['says']}\": {verdict['text']}", flush=True)
        wrong.append("reason")
    if right and not tells(truth, verdict["text"]):
        wrong.append("share")
    told = " ".join([verdict["text"], *(piece["text"] for piece in summary["advice"])])
    if right and truth.get("advises", "") not in told:
        print(f"{name:24} does not advise \"{truth['advises']}\": {told}", flush=True)
        wrong.append("advice")
    for words in truth.get("denies", []):
        if words in told:
            print(f"{name:24} says \"{words}\": {told}", flush=True)
            wrong.append("claim")
    return Outcome(name, verdict["code"], verdict["confidence"], right, wrong)


def judge_planted(name):
    """The same for a trainer of planted/; its rows are not compared."""
    sys.path.insert(0, os.path.join(training.HERE, "planted"))
    import faults
    import harness
    import planted

    fault = next(fault for fault in faults.TABLE if PLANTED + fault.trainer == name)
    try:
        verdict, _ = planted.observe(fault)
    except harness.CannotRun as reason:
        print(f"{name:24} skipped: {reason}", flush=True)
        return None
    code = verdict["code"]
    is_crowded = planted.is_crowded(fault, training.told(verdict))
    right = code in fault.verdicts or (None if code in ABSTAINS else is_crowded)
    if right is False:
        print(f"{name:24} {code}, true: {', '.join(fault.verdicts)}", flush=True)
    wrong = ["verdict"] * (right is False)
    return Outcome(name, code, verdict["confidence"], right, wrong)


def planted_names():
    sys.path.insert(0, os.path.join(training.HERE, "planted"))
    import faults

    return [PLANTED + fault.trainer for fault in faults.TABLE]


def outcomes_before(path):
    """Name to outcome."""
    if not path or not os.path.exists(path):
        return {}
    with open(path) as lines:
        outcomes = [Outcome(*json.loads(line)) for line in lines]
    return {outcome.name: outcome for outcome in outcomes}


def judge_all(names, python, arguments):
    before = outcomes_before(arguments.resume)
    for name in names:
        outcome = before.get(name)
        if not outcome:
            planted = name.startswith(PLANTED)
            outcome = judge_planted(name) if planted else judge(name, python, arguments)
        if outcome and arguments.resume and name not in before:
            with open(arguments.resume, "a") as file:
                print(json.dumps(outcome), file=file)
        if outcome:
            yield outcome


def count(outcomes):
    """(verdict, confidence) to [right, abstains, wrong]."""
    table = {}
    for outcome in outcomes:
        if outcome.code:
            counts = table.setdefault((outcome.code, outcome.confidence), [0, 0, 0])
            counts[0 if outcome.right else 2 if outcome.right is False else 1] += 1
    return table


def calibration(table):
    yield f"{'verdict':22}  {'confidence':10}  right  abstains  wrong"
    for (code, confidence), (right, abstains, wrong) in sorted(table.items()):
        yield f"{code:22}  {confidence:10}  {right:5}  {abstains:8}  {wrong:5}"


def write(path, table):
    begin, end = "```calibration\n", "\n```"
    with open(path) as file:
        head, _, tail = file.read().partition(begin)
    text = head + begin + "\n".join(calibration(table)) + end + tail.partition(end)[2]
    with open(path, "w") as file:
        file.write(text)


def names_of(folder):
    own = {"timers", "core_wait", "small", "vision", "http_server"}
    found = glob.glob(os.path.join(FOLDER, folder, "*.py"))
    names = {os.path.relpath(path, FOLDER)[:-3] for path in found}
    return sorted(names - own)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--packages", action="store_true")
    parser.add_argument("--nightly", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("--resume")
    parser.add_argument("--calibration")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    bare = names_of("") + names_of("recipes")
    names = arguments.names or (bare if arguments.nightly else FAST)
    if arguments.packages:
        names = arguments.names or bare + names_of("packages")
        if not os.path.exists(PACKAGES):
            training.skip("no build/venv-programs: scripts/test --nightly makes it")
    python = PACKAGES if arguments.packages else training.interpreter()
    if arguments.planted:
        names = names + planted_names()
    outcomes = list(judge_all(names, python, arguments))
    failed = [outcome for outcome in outcomes if outcome.wrong]
    table = count(outcomes)
    told = f"{len(outcomes)} programs, {len(failed)} wrong"
    print("\n".join(["", *calibration(table), "", told]))
    for outcome in failed:
        print(f"{outcome.name:24} {', '.join(outcome.wrong)}")
    if arguments.calibration:
        write(arguments.calibration, table)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
