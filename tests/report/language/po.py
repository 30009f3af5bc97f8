# SPDX-License-Identifier: Apache-2.0
"""The entries of a gettext catalogue."""

import ast
import re
import unicodedata


def width(text):
    """Columns of a terminal."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def entries(path):
    """Yields msgid and msgstr, of a plural its first form."""
    with open(path, encoding="utf-8") as file:
        blocks = file.read().split("\n\n")
    for block in blocks:
        found = dict(
            re.findall(r'^(msgid|msgstr)(?:\[0\])? ((?:"(?:[^"\\]|\\.)*"\n?)+)', block, re.M)
        )
        if len(found) == 2:
            yield tuple(
                "".join(ast.literal_eval(line) for line in found[key].split("\n") if line)
                for key in ("msgid", "msgstr")
            )
