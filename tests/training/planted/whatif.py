# SPDX-License-Identifier: Apache-2.0
"""Predictions from one run against runs under that condition: other numbers of workers, and data
that is ready.

Prints a row each. The middle of the range may be 10% off; where other programs run, the rows are
printed alone.
"""

import os
import sys

import harness

MOST_OFF = 0.1
WORKERS = ("1", "2", "4")


def what_ifs(run, *options):
    rows = harness.report(run, "whatif", *options)["what_if"]
    return {row["what_if"]: row for row in rows}


def off(row, measured_ns):
    """How far the middle of the range is from what was measured, as a share of that."""
    middle = (row["low_ns"] + row["high_ns"]) / 2
    return middle / measured_ns - 1


def show(told, source, row, measured_ns):
    error = off(row, measured_ns)
    low, high, measured = (ns / 1e6 for ns in (row["low_ns"], row["high_ns"], measured_ns))
    print(
        f"| {told} | {source} | {low:.1f} to {high:.1f} ms | {measured:.1f} ms | {100 * error:+.1f}% |",
        flush=True,
    )
    return abs(error)


def record(folder, workers):
    os.environ["WORKERS"] = workers
    return harness.record("sleeping", os.path.join(folder, workers))


def main():
    print(
        "| what if | predicted from | a step | measured | off |\n|---|---|---|---|---|", flush=True
    )
    with harness.scratch() as folder:
        runs = {workers: record(folder, workers) for workers in (*WORKERS, "none")}
        now = {workers: what_ifs(run)["input_free"]["now_ns"] for workers, run in runs.items()}
        errors = [
            show(
                f"{to} workers",
                f"{source} workers",
                what_ifs(runs[source], f"--workers={to}")["workers"],
                now[to],
            )
            for source in WORKERS
            for to in WORKERS
            if source != to
        ]
        errors += [
            show(
                "input were free",
                f"{source} workers",
                what_ifs(runs[source])["input_free"],
                now["none"],
            )
            for source in WORKERS
        ]
    load = os.getloadavg()[0]
    print(f"greatest error {100 * max(errors):.1f}%, load {load:.1f}")
    if load > os.cpu_count():
        print(
            f"skipped: other programs run (load {load:.0f} on {os.cpu_count()} processors): errors say nothing"
        )
        return 77
    return max(errors) > MOST_OFF


if __name__ == "__main__":
    sys.exit(main())
