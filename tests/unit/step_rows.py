#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""step_rows.py STEP_DEF BUILD: the test that a row of step.def names passes with the row, and fails
without it. Two rows of one state and token, both of which always hold, contradict each other.

Exit status: 1 where a row has no test, one that passes without the row, or a contradiction."""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

TEXT = r'"(?:[^"\\]|\\.)*"'
MACROS = "TRANSITION|STEP_BEGIN|STEP_END|GAP|PAUSE|STEP_KIND"
ROW = re.compile(
    r"^(SP_(?:%s))\((.*?),\s*(?:%s\s*)+,\s*(\w+), (\w+)\)$" % (MACROS, TEXT), re.M | re.S
)


def rows(path):
    """(macro, columns, suite, test), in the order of their numbers."""
    with open(path) as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    return [
        (macro, [c.strip() for c in columns.split(",")], suite, test)
        for macro, columns, suite, test in ROW.findall(text)
        if suite != "suite"
    ]


def contradictions(listed):
    """Rows that never come to pass, because one before them always holds and is the last."""
    seen = {}
    for macro, columns, _, test in listed:
        key = None
        if macro == "SP_TRANSITION" and columns[2] == "always" and columns[4] == "drop":
            key = (macro, columns[0], columns[1])
        elif macro in ("SP_STEP_BEGIN", "SP_STEP_END", "SP_GAP") and "always" in columns:
            key = (macro, columns[0])
        if key in seen:
            yield f"{key}: the rows of {seen[key]} and {test} contradict each other: give one a guard"
        if key:
            seen[key] = test


def failures(build, suite, row):
    environment = dict(os.environ, CK_VERBOSITY="minimal", STAGEPROF_TEST_ROW_OFF=str(row))
    binary = os.path.join(build, f"unit_analyzer_{suite}")
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    # A test that fails leaves its folder.
    with tempfile.TemporaryDirectory(dir=memory, prefix="sp-rows-") as folder:
        environment["STAGEPROF_TEST_FOLDERS"] = folder
        said = subprocess.run(
            [binary], capture_output=True, text=True, env=environment, check=False
        )
    return re.findall(r":[FE]:[^:]*:(\w+):", said.stdout)


def judge(build, number, row):
    macro, columns, suite, test = row
    what = f"step.def: {macro}({', '.join(columns[:3])}, ...)"
    if not os.path.exists(os.path.join(build, f"unit_analyzer_{suite}")):
        return f"{what}: no suite {suite}: name one of tests/unit/analyzer"
    if test not in failures(build, suite, number):
        return f"{what}: {suite}, {test} passes without the row: name a test that needs it, or drop the row"
    return None


def main():
    path, build = sys.argv[1:]
    listed = rows(path)
    wrong = list(contradictions(listed))
    if not listed:
        wrong.append(f"{path}: no rows")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong += [w for w in pool.map(lambda r: judge(build, *r), enumerate(listed)) if w]
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
