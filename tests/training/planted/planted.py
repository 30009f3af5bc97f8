# SPDX-License-Identifier: Apache-2.0
"""Plants each fault of faults.py, asks for the verdict, and prints the confusion table.

    planted.py [--few] [--resume FILE] [TRAINER...]    exit 1 where one is named wrongly, 77 where
    none could be run

A whole run takes minutes; with FILE, a run that was cut short continues after the rows that it has.
"""

import argparse
import os
import sys

import faults
import harness


def observe(fault):
    """The summary's verdict, and the advice's ids."""
    with harness.scratch() as folder:
        summary = harness.report(harness.record(fault.trainer, folder, **fault.settings))
    return summary["verdict"], [line["id"] for line in summary["advice"]]


def judge(fault):
    """The verdict, and the complaint about it: "", or words."""
    try:
        verdict, advice = observe(fault)
    except harness.CannotRun as reason:
        return f"not run: {reason}", None
    code = harness.training.told(verdict)
    missing = [name for name in fault.advice if name not in advice]
    if code not in fault.verdicts:
        print(f"{fault.trainer}: {verdict}", file=sys.stderr, flush=True)
        return code, "WRONG"
    return code, f"no advice {' '.join(missing)}" if missing else ""


def is_crowded(fault, code):
    """Others that want the processors make a healthy trainer wait: that verdict is right. Any
    trainer's verdict may be that they had the processors. All trainers share the first two."""
    may_be = fault.trainer.startswith("healthy") or code == "machine-busy"
    return may_be and os.getloadavg()[0] > min(os.cpu_count(), harness.CORES)


def row_of(fault):
    """A row of the table, whether it is wrong, and whether the trainer was run at all."""
    code, trouble = judge(fault)
    wrong = bool(trouble)
    if trouble == "WRONG" and is_crowded(fault, code):
        trouble, wrong = f"other programs ran (load {os.getloadavg()[0]:.0f})", False
    right = "" if trouble is None else trouble or "yes"
    return f"| {fault.trainer} | {code} | {right} |", wrong, trouble is not None


def rows_before(path):
    """Trainer to row."""
    if not path or not os.path.exists(path):
        return {}
    with open(path) as lines:
        return {line.split()[1]: line.rstrip() for line in lines}


def parse(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--resume", metavar="FILE")
    parser.add_argument("trainers", nargs="*", metavar="TRAINER")
    return parser.parse_args(argv)


def main(argv):
    options = parse(argv)
    chosen = faults.FEW if options.few else options.trainers
    before = rows_before(options.resume)
    wrong, seen = 0, 0
    print("| planted | verdict | right |\n|---|---|---|", flush=True)
    for fault in faults.TABLE:
        if chosen and fault.trainer not in chosen:
            continue
        row = before.get(fault.trainer)
        is_wrong, is_seen = bool(row) and not row.endswith("| yes |"), True
        if not row:
            row, is_wrong, is_seen = row_of(fault)
            if options.resume:
                with open(options.resume, "a") as file:
                    print(row, file=file)
        wrong += is_wrong
        seen += is_seen
        print(row, flush=True)
    return 1 if wrong else 0 if seen else 77


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
