# SPDX-License-Identifier: Apache-2.0
"""The functions and variables that a file of the programs uses of another, by the object files of a
build (nm). layers.py judges the arrows; an inline function of a header counts for the file that
includes the header."""

import collections
import json
import os
import re
import subprocess

OWN = "sp_"  # other global names are libc's: a hook defines them, and nobody calls a hook
NO_CODE = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
    | ^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*""",
    re.S | re.M | re.X,
)
PARENTHESES = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
FUNCTION = re.compile(rf"\b({OWN}\w+)\s*{PARENTHESES}\s*(?=;|__attribute__|SP_)")
VARIABLE = re.compile(rf"\bextern\b[^(;]*?\b({OWN}\w+)\s*(?:\[[^]]*\]\s*)*(?=;|__attribute__|SP_)")


def objects_of(root, build, sides):
    """({source: its object files}, [sources without one]). A source may be compiled several
    times."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    found = {}
    for command in commands:
        source = os.path.relpath(command["file"], root)
        if source.startswith(tuple(f"{side}/" for side in sides)):
            built = os.path.join(build, command["output"])
            found.setdefault(source, []).extend([built] if os.path.exists(built) else [])
    return found, sorted(source for source, built in found.items() if not built)


def symbols_of(objects):
    """({name: sources that define it}, {source: names that it uses})."""
    source_of = {built: source for source, all_built in objects.items() for built in all_built}
    said = subprocess.run(
        ["nm", "-A", "-P", *source_of], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    defined, used = collections.defaultdict(set), collections.defaultdict(set)
    for line in said.splitlines():
        built, rest = line.rsplit(": ", 1)
        name, kind = rest.split()[:2]
        if name.startswith(OWN):
            if kind in "Uwv":
                used[source_of[built]].add(name)
            elif kind.isupper():
                defined[name].add(source_of[built])
    return defined, used


def arrows_of(defined, used):
    """{(user, other): names}; a name that two files define leads nowhere."""
    arrows = {}
    for user in used:
        for name in used[user]:
            others = defined.get(name, ())
            if len(others) == 1 and user not in others:
                arrows.setdefault((user, *others), set()).add(name)
    return arrows


def shortest_circle(nodes, arrows):
    """The files of a shortest way round among these, from the first of them in the alphabet."""
    best = None
    for start in sorted(nodes):
        before, queue = {start: None}, collections.deque([start])
        while queue:
            node = queue.popleft()
            if (node, start) in arrows:
                way = []
                while node:
                    way.append(node)
                    node = before[node]
                if not best or len(way) < len(best):
                    best = way[::-1]
                break
            for other in sorted(nodes):
                if (node, other) in arrows and other not in before:
                    before[other] = node
                    queue.append(other)
    return best


def declared_in(text):
    """(name, line) of each function and variable that a header declares; macros make none."""
    text, more = NO_CODE.sub(blank, text), True
    while more:
        text, more = re.subn(r"\{[^{}]*\}", blank, text)
    for pattern in (FUNCTION, VARIABLE):
        for match in pattern.finditer(text):
            yield match[1], text.count("\n", 0, match.start(1)) + 1


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])
