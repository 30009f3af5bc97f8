"""Plants each fault of faults.py, asks for the verdict, and prints the confusion table.

    planted.py [--few | TRAINER...]    exit 1 where one is named wrongly, 77 where none could be run
"""

import os
import sys

import faults
import harness


def observe(fault):
    """The summary's verdict code, and its advice."""
    with harness.scratch() as folder:
        summary = harness.report(harness.record(fault.trainer, folder, **fault.settings))
    return summary["verdict"]["code"], [line["id"] for line in summary["advice"]]


def judge(fault):
    """What was seen, and what is wrong with it: "", or words."""
    try:
        code, advice = observe(fault)
    except harness.CannotRun as reason:
        return f"not run: {reason}", None
    missing = [name for name in fault.advice if name not in advice]
    if code not in fault.verdicts:
        return code, "WRONG"
    return code, f"no advice {' '.join(missing)}" if missing else ""


def is_crowded(fault):
    """Others that want the processors make a healthy trainer wait: that it is told so is right."""
    return fault.trainer.startswith("healthy") and os.getloadavg()[0] > os.cpu_count()


def main(names):
    chosen = faults.FEW if names == ["--few"] else names
    wrong, seen = 0, 0
    print("| planted | verdict | right |\n|---|---|---|", flush=True)
    for fault in faults.TABLE:
        if chosen and fault.trainer not in chosen:
            continue
        code, trouble = judge(fault)
        if trouble == "WRONG" and is_crowded(fault):
            trouble = f"other programs ran (load {os.getloadavg()[0]:.0f})"
        else:
            wrong += bool(trouble)
        seen += trouble is not None
        right = "" if trouble is None else "yes" if not trouble else trouble
        print(f"| {fault.trainer} | {code} | {right} |", flush=True)
    return 1 if wrong else 0 if seen else 77


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
