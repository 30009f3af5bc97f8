# SPDX-License-Identifier: Apache-2.0
"""format.py SOURCE: C as clang-format 14 lays it out, and no comment of a line that ends on a line
of its own; no line of over 100 columns elsewhere.

A tab goes to the next multiple of eight columns. These lines may be longer: a line whose string or
link reaches over the 100th column, because people search for the whole of it; rows of tables, and
the files that format.txt lists with a reason. Prints FILE:LINE: what is wrong; what to do. Exit
status: 1 where something is wrong; 77 where the rest holds, but no clang-format 14 is installed."""

import io
import os
import re
import shutil
import subprocess
import sys
import tokenize
import unicodedata

from licences import files, text

EXCEPTIONS = "tests/builds/format.txt"
MOST = 100
C = (".c", ".h")
KINDS = (".def", ".md", ".py", ".sh", ".cmake", "CMakeLists.txt")


def clang_format():
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path:
            said = subprocess.run([path, "--version"], stdout=subprocess.PIPE, check=True).stdout
            if b"version 14." in said:
                return path
    return None


def misformatted(root, paths, program):
    for begin in range(0, len(paths), 200):
        command = [program, "--dry-run", "-Werror", *paths[begin : begin + 200]]
        done = subprocess.run(command, cwd=root, stderr=subprocess.PIPE)
        for path, line in re.findall(r"^(\S+?):(\d+):\d+: error:", done.stderr.decode(), re.M):
            yield f"{path}:{line}: not as clang-format 14 lays it out: clang-format -i {path}"


def ends_alone(path, source):
    """clang-format moves the end of a comment that is too long by a word: break it in two."""
    lines = source.split("\n")
    for number, (line, after) in enumerate(zip(lines, lines[1:]), 1):
        if re.search(r"/\*(?!.*\*/)\s*\w", line) and re.fullmatch(r"\s*\*/\s*\\?", after):
            yield f"{path}:{number + 1}: the comment ends on a line of its own: break its text"


def width(line):
    column = 0
    for char in line:
        if char == "\t":
            column += 8 - column % 8
        elif not unicodedata.combining(char):
            column += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return column


def python_strings(source):
    """Numbers of lines on which a string reaches over the last column; a docstring is no such
    string."""
    lines = set()
    before = None
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_docstring = before in (None, tokenize.INDENT, tokenize.NEWLINE, tokenize.NL)
        if token.type == tokenize.STRING and not is_docstring:
            (first, _), (last, end) = token.start, token.end
            lines.update(range(first, last))
            if end > MOST:
                lines.add(last)
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token.type
    return lines


def in_string(line):
    """A string of C, a shell or CMake reaches over the last column."""
    for match in re.finditer(r'"(?:[^"\\]|\\.)*("|$)|\'(?:[^\'\\]|\\.)*\'', line):
        if width(line[: match.start()]) < MOST < width(line[: match.end()]) + 1:
            return True
    return False


def in_word(line):
    """A word that cannot be broken, as a link or a path, reaches over the last column."""
    words = [m for m in re.finditer(r"\[[^]]*\]\([^)]*\)\S*|`[^`]*`\S*|\S+", line)]
    return any(
        width(line[: m.start()]) < MOST and width(line[: m.end()]) > MOST and len(m[0]) > 30
        for m in words
    )


def too_wide(path, source):
    strings = python_strings(source) if path.endswith(".py") else set()
    fenced = False
    for number, line in enumerate(source.split("\n"), 1):
        fenced ^= line.startswith("```")
        if width(line) <= MOST or number in strings or in_word(line):
            continue
        if path.endswith(".md") and (line.startswith(("|", "    ")) or fenced):
            continue
        if not path.endswith((".md", ".py")) and in_string(line):
            continue
        yield f"{path}:{number}: {width(line)} columns, {MOST} are the most: break the line"


def exceptions(root):
    """{path: line} of the files that may have longer lines."""
    lines = enumerate(text(root, EXCEPTIONS).split("\n"), 1)
    return {line.split()[0]: n for n, line in lines if line and not line.startswith("#")}


def check(root, program):
    paths = list(files(root))
    found = []
    if program:
        found += misformatted(root, [path for path in paths if path.endswith(C)], program)
    for path in paths:
        if path.endswith(C):
            found += ends_alone(path, text(root, path))
    excused = exceptions(root)
    for path in paths:
        if path.endswith(KINDS):
            wide = list(too_wide(path, text(root, path)))
            if path not in excused:
                found += wide
            elif not wide:
                found.append(
                    f"{EXCEPTIONS}:{excused[path]}: {path} has no wide line any more: remove it"
                )
    for path in set(excused) - set(paths):
        found.append(f"{EXCEPTIONS}:{excused[path]}: there is no {path}: remove it")
    return found


if __name__ == "__main__":
    tool = clang_format()
    complaints = check(sys.argv[1], tool)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    if complaints:
        sys.exit(1)
    if not tool:
        print("skipped: no clang-format 14; the columns hold")
        sys.exit(77)
