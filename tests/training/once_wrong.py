# SPDX-License-Identifier: Apache-2.0
"""The tests of tests/training/ONCE_WRONG.md against the commit that had the defects.

    once_wrong.py WORK

Builds that commit in WORK. Each test of a row that says `fails` has to pass with the library and
the analyzer of this tree (STAGEPROF_TEST_*), and one of the row has to fail with the commit's. One
line is printed for each row. Exit 77 where the commit is not in this clone.
"""

import os
import re
import subprocess
import sys

import defects
import training

COMMIT = "5d08940"
TESTS = os.path.join(defects.ROOT, "tests")
TARGETS = {
    "STAGEPROF_TEST_LIB": "libstageprof.so",
    "STAGEPROF_TEST_REPORT": "stageprof-report",
    "STAGEPROF_TEST_LAUNCHER": "stageprof",
}


def build(work):
    """Builds the commit; returns the environment of tests that use it."""
    tree, made = os.path.join(work, "tree"), os.path.join(work, "build")
    os.makedirs(tree, exist_ok=True)
    archive = subprocess.run(["git", "-C", defects.ROOT, "archive", COMMIT], capture_output=True)
    if archive.returncode:
        training.skip(f"no commit {COMMIT} in this clone")
    subprocess.run(["tar", "-x", "-C", tree], input=archive.stdout, check=True)
    settings = ["-D", "CMAKE_BUILD_TYPE=RelWithDebInfo", "-D", "BUILD_TESTING=OFF"]
    configure = ["cmake", "-S", tree, "-B", made, *settings]
    for command in configure, ["cmake", "--build", made, "-j", "2"]:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return {name: os.path.join(made, file) for name, file in TARGETS.items()}


def python_tests(cell):
    """(file, name) of each test of a cell that is written in Python; no name: all of the file."""
    for part in re.findall(r"`([^`]+\.py[^`]*)`", cell):
        path, _, names = part.partition(":")
        for name in names.split(","):
            yield os.path.join(TESTS, path), name.strip()


def passes(path, name, environment):
    """The test ran, and passed; a skipped one has not."""
    module = os.path.splitext(os.path.basename(path))[0]
    command = [sys.executable, "-B", "-m", "unittest", *(["-k", name] if name else []), module]
    done = subprocess.run(
        command,
        cwd=os.path.dirname(path),
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    return "\nOK\n" in done.stderr and "\nRan 0 tests" not in done.stderr


def main():
    before = build(sys.argv[1])
    wrong = 0
    with open(os.path.join(defects.ROOT, "tests", "training", "ONCE_WRONG.md")) as file:
        rows = list(defects.rows(file.read()))
    for number, cell, outcome in rows:
        if outcome != "fails":
            print(f"{number:2} {outcome}")
            continue
        tests = list(python_tests(cell))
        now = [name or path for path, name in tests if not passes(path, name, {})]
        then = [name or path for path, name in tests if not passes(path, name, before)]
        is_right = bool(then) and not now
        print(f"{number:2} fails there: {', '.join(then) or 'none'}", "" if is_right else "WRONG")
        if now:
            print(f"   fails here: {', '.join(now)}")
        wrong += not is_right
        sys.stdout.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
