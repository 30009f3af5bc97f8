# SPDX-License-Identifier: Apache-2.0
"""The table of tests/training/ONCE_WRONG.md names a test for each defect: each test exists.

A cell names tests as `folder/file: test, test`, or as `folder/file` where all of it is meant.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEFECTS = 22


def rows(text):
    """(number, cell with the tests, how they end on the commit) of each defect."""
    section = text.partition("## Reports")[2].partition("\n## ")[0]
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0].isdigit():
            yield int(cells[0]), cells[2], cells[3]


def missing(cell):
    """The names in a cell that no file and no test has."""
    for part in re.findall(r"`([^`]+)`", cell):
        path, _, names = part.partition(":")
        path = os.path.join(ROOT, "tests", path)
        if not os.path.exists(path):
            yield path
            continue
        with open(path) as file:
            text = file.read()
        for name in filter(None, (name.strip() for name in names.split(","))):
            if not re.search(rf"\b{name}\b", text):
                yield f"{path}: {name}"


def main():
    with open(os.path.join(ROOT, "tests", "training", "ONCE_WRONG.md")) as file:
        table = {number: cell for number, cell, _ in rows(file.read())}
    wrong = [f"defect {n} has no row" for n in range(1, DEFECTS + 1) if n not in table]
    for number, cell in table.items():
        if "`" not in cell:
            wrong.append(f"defect {number} has no test")
        wrong += [f"defect {number}: no {name}" for name in missing(cell)]
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
