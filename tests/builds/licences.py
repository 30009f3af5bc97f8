# SPDX-License-Identifier: Apache-2.0
"""licences.py SOURCE PROGRAMS...: an SPDX line in each source file; the table of NOTICES.md is
whole.

The components that the programs use are read from CMake's lists, from what each ELF file of
PROGRAMS needs, and from the libraries that sources open. Prints FILE:LINE: what is wrong; what to
do. Exit status: 1 where something is wrong."""

import os
import re
import subprocess
import sys

LICENCE = "SPDX-License-Identifier: Apache-2.0"
NOTICES = "NOTICES.md"
SIDES = ("trace", "preload", "analyzer", "scripts")
KINDS = (".c .h .def .S .cpp .cu .py .sh .js .css .cmake .map .proto").split()


def files(root):
    """Sources of the tree, from its root: no build folder, nothing of git."""
    for folder, folders, names in os.walk(root):
        here = os.path.relpath(folder, root)
        folders[:] = sorted(
            name
            for name in folders
            if not (name.startswith(".") and name != ".ci")
            and name != "__pycache__"
            and not (here == "." and name.startswith("build"))
        )
        for name in sorted(names):
            yield os.path.normpath(os.path.join(here, name))


def is_source(root, path):
    if path.endswith(tuple(KINDS)) or os.path.basename(path) == "CMakeLists.txt":
        return True
    if "." in os.path.basename(path):
        return False
    with open(os.path.join(root, path), "rb") as file:
        return file.read(2) == b"#!"


def text(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def without_a_licence(root):
    for path in files(root):
        if is_source(root, path) and LICENCE not in "\n".join(text(root, path).split("\n", 3)[:3]):
            yield f"{path}:1: no licence: begin the file with a comment `{LICENCE}`"


def named_by_cmake(root):
    """(name, where) of each library and header that the programs' CMakeLists.txt ask for."""
    for path in files(root):
        if os.path.basename(path) != "CMakeLists.txt" or not path.startswith(SIDES):
            continue
        for number, line in enumerate(text(root, path).split("\n"), 1):
            match = re.match(
                r"\s*(?:pkg_check_modules|find_library|find_path|find_file)\((.*)\)", line
            )
            words = match[1].split() if match else []
            if "PATHS" in words:
                words = words[: words.index("PATHS")]
            # stageprof_library(NAME MODULE ARCHIVE ...), of cmake/portable.cmake
            library = re.match(r"\s*stageprof_library\(\S+ (\S+) (\w+)", line)
            if library:
                words = ["", library[1], f"lib{library[2]}.a"]
            for word in words[1:]:
                if word not in ("REQUIRED", "IMPORTED_TARGET", "NAMES", "QUIET"):
                    yield re.split("[<>=]", word)[0], f"{path}:{number}"


def opened(root):
    """(name, where) of each library that a source opens by its name, unless the host has loaded it.
    """
    for path in files(root):
        if path.endswith(".c") and path.startswith(SIDES):
            for match in re.finditer(r'dlopen\(\s*"([^"]+)",([^;]*)', text(root, path)):
                if "RTLD_NOLOAD" not in match[2]:
                    line = text(root, path)[: match.start()].count("\n") + 1
                    yield match[1], f"{path}:{line}"


def needed(programs):
    for program in programs:
        said = subprocess.run(["readelf", "-d", program], stdout=subprocess.PIPE, check=True).stdout
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", said.decode()):
            if not name.startswith("ld-linux"):  # the loader of libc
                yield name, f"{os.path.basename(program)}:0"


def noticed(root):
    """{name: line} of the last column of the table; a row must have a version and a licence."""
    names, problems = {}, []
    for number, line in enumerate(text(root, NOTICES).split("\n"), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 5 or cells[0] == "component" or "---" in line:
            continue
        if not all(cells):
            problems.append(f"{NOTICES}:{number}: an empty cell: a component has all five")
        for name in re.findall(r"`([^`]+)`", cells[4]):
            names[name] = number
    return names, problems


def check(root, programs, read_needed=needed):
    found = list(without_a_licence(root))
    names, problems = noticed(root)
    found += problems
    used = {}
    for name, where in [*named_by_cmake(root), *opened(root), *read_needed(programs)]:
        used.setdefault(name, where)
    for name, where in sorted(used.items()):
        if name not in names:
            found.append(
                f"{where}: {name} is used and {NOTICES} does not name it: add it to the last column"
                " of its component, or a row with its version and licence"
            )
    for name, number in sorted(names.items()):
        if name not in used:
            found.append(f"{NOTICES}:{number}: nothing uses {name}: remove it")
    return found


if __name__ == "__main__":
    complaints = check(sys.argv[1], sys.argv[2:])
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    sys.exit(bool(complaints))
