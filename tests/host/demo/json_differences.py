# SPDX-License-Identifier: Apache-2.0
"""Prints the fields in which two JSON files differ; exit status 1 if there are any.

The source of a report is no part of its contents: "input" fields may differ.
"""

import json
import sys


def fields(value, path="$"):
    if isinstance(value, dict):
        for key in value:
            if key != "input":
                yield from fields(value[key], f"{path}.{key}")
    elif isinstance(value, list):
        yield f"{path}.length", len(value)
        for index, item in enumerate(value):
            yield from fields(item, f"{path}[{index}]")
    else:
        yield path, value


a, b = (dict(fields(json.load(open(name)))) for name in sys.argv[1:3])
differences = [path for path in sorted(a.keys() | b.keys()) if a.get(path) != b.get(path)]
for path in differences:
    print(path, a.get(path), b.get(path))
sys.exit(1 if differences or not a else 0)
