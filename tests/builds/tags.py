# SPDX-License-Identifier: Apache-2.0
"""tags.py SOURCE: one tag of a struct, union or enum, and one name of a file, for one meaning in
the programs' sources.

Prints each violation as FILE:LINE: what is wrong; what to do. Exit status: 1 where there is one.
tags_test.py shows that each kind of violation is found."""

import os
import re
import sys

DOCUMENT = "docs/ARCHITECTURE.md"
SECTION = "## File names that stand twice"
SIDES = ("trace", "preload", "analyzer", "scripts/launcher", "scripts/sampler", "scripts/watch")
KINDS = (".c", ".h", ".def", ".S")
NO_CODE = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'""", re.S | re.X
)
ATTRIBUTE = r"(?:__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|_Alignas\s*\([^()]*\))"
TAG = re.compile(rf"\b(struct|union|enum)\s+(?:{ATTRIBUTE}\s*)*(\w+)\s*\{{")


def sources_of(root):
    for side in SIDES:
        for folder, folders, names in os.walk(os.path.join(root, side)):
            folders[:] = sorted(f for f in folders if f != "__pycache__" and not f.startswith("."))
            for name in sorted(names):
                if name.endswith(KINDS):
                    yield os.path.relpath(os.path.join(folder, name), root)


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def tags_of(root, path):
    """(line, struct or union or enum, tag) of each definition in the file."""
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        text = NO_CODE.sub(blank, file.read())
    for match in TAG.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[1], match[2]


def check_tags(root, sources):
    first = {}
    for path in sources:
        for line, kind, tag in tags_of(root, path):
            if tag not in first:
                first[tag] = f"{path}:{line}"
                continue
            yield (
                f"{path}:{line}: {kind} {tag}: this tag is defined at {first[tag]} too; give one of "
                "them the name of what it holds, or move what both need to a header"
            )


def allowed_names(root):
    """The rows of the document's section: {file name: (line, reason)}."""
    rows, inside = {}, False
    with open(os.path.join(root, DOCUMENT), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("#"):
                inside = line.strip() == SECTION
            match = re.match(r"\| `([^`]+)` \|(.*)\|", line)
            if inside and match:
                rows[match[1]] = number, match[2].strip()
    return rows


def check_names(root, sources):
    modules = {}  # stem: {folder: its first file}
    for path in sources:
        stem = os.path.splitext(os.path.basename(path))[0]
        modules.setdefault(stem, {}).setdefault(os.path.dirname(path), path)
    doubles = {stem: list(found.values()) for stem, found in modules.items() if len(found) > 1}
    allowed = allowed_names(root)
    for name, (line, reason) in allowed.items():
        if not reason:
            yield f"{DOCUMENT}:{line}: {name} has no reason: say why the name stands twice"
        if os.path.splitext(name)[0] not in doubles:
            yield f"{DOCUMENT}:{line}: {name} does not stand twice: remove the row"
    stems = {os.path.splitext(name)[0] for name in allowed}
    for stem, (first, *others) in sorted(doubles.items()):
        if stem in stems:
            continue
        for path in others:
            yield (
                f"{path}:1: {first} has the same name: rename one of them by what is in it, or give "
                f'it a row with a reason in "{SECTION[3:]}" of {DOCUMENT}'
            )


def check(root):
    sources = list(sources_of(root))
    if not sources:
        return [f"{SIDES[0]}:0: no source file: name the folders of the sources in tags.py"]
    return [*check_tags(root, sources), *check_names(root, sources)]


if __name__ == "__main__":
    found = check(sys.argv[1])
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(bool(found))
