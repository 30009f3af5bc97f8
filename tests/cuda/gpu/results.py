# SPDX-License-Identifier: Apache-2.0
"""The JSON file of check.py: read, joined with others, judged, and written whole or not at all."""

import json
import os

import judge

SCHEMA = 2


class Unusable(Exception):
    """The options, or files named in them."""


def empty(conditions):
    return {
        "schema_version": SCHEMA,
        "conditions": conditions,
        "runs": [],
        "workloads": {},
        "built_here": {},
        "not_reached": [],
    }


def must_be_alike(ours, theirs):
    for name in {**ours, **theirs}:
        if ours.get(name) != theirs.get(name):
            raise ValueError(f"{name} was {theirs.get(name)}, and is {ours.get(name)}")


def join(into, found):
    """The measurements. Failed and impossible ones are left out, because they are tried again."""
    into["runs"] += [run for run in found["runs"] if run not in into["runs"]]
    for name, done in found["workloads"].items():
        mine = into["workloads"].setdefault(name, {})
        for part in ("compared", "cupti"):
            if part in done:
                mine.setdefault(part, done[part])
        rounds = mine.get("rounds", [])
        rounds += [one for one in done.get("rounds", []) if one not in rounds]
        if rounds:
            mine["rounds"] = rounds
    for kind, program in found["built_here"].items():
        if "seen" in program:
            into["built_here"].setdefault(kind, program)


def add(joined, path, conditions):
    """Adds the results of a file to `joined`, or to new ones. Raises Unusable."""
    try:
        with open(path) as file:
            found = json.load(file)
        if found["schema_version"] != SCHEMA:
            raise ValueError(f"schema_version {found['schema_version']}, and this writes {SCHEMA}")
        joined = joined or empty(conditions or found["conditions"])
        must_be_alike(joined["conditions"], found["conditions"])
        join(joined, found)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        said = f"no {error}" if isinstance(error, KeyError) else error
        raise Unusable(f"{path}: its results cannot be added to: {said}; name another --output")
    return joined


def earlier(options, conditions=None):
    """The results of the files given, joined; None where there are none. Raises Unusable."""
    joined = None
    for path in [options.output] * os.path.exists(options.output) + options.add:
        joined = add(joined, path, conditions)
    return joined


def write(path, results):
    """Judged as far as it goes; whole, or as it was."""
    for done in results["workloads"].values():
        if done.get("rounds"):
            done["overhead"] = judge.costs(done["rounds"])
    verdicts = judge.judge(results)
    results["broken"], results["undecided"] = verdicts.broken, verdicts.undecided
    beside = f"{path}.new"
    with open(beside, "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    os.replace(beside, path)


def writable(path):
    """Before anything is measured; raises Unusable."""
    try:
        with open(f"{path}.new", "w"):
            pass
        os.unlink(f"{path}.new")
    except OSError as error:
        raise Unusable(
            f"--output={path}: {error.strerror}; name a file in a folder that can be written"
        )
