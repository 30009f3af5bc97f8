#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""glibc_floor.py FLOOR FILE...: no FILE needs a version of glibc above FLOOR ("2.17"), and no FILE
needs a library that FLOOR's row does not list. Reads what `objdump -p` prints of the built file.
"""

import re
import subprocess
import sys

LIBC = {"libc.so.6"}
# The tools are programs of their own: libraries of glibc do not change a host there.
TOOLS = LIBC | {"libm.so.6", "libpthread.so.0", "libdl.so.2"}
MAY_NEED = {"2.17": LIBC, "2.28": TOOLS}


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def complaints(path, text, floor):
    """Each fault in the text that objdump printed of the file."""
    found = []
    versions = re.findall(r"\bGLIBC_([0-9.]+)", text.split("Version References:")[-1])
    if not versions:
        found.append(f"{path}: no version of glibc, so nothing was checked")
    for version in sorted(set(versions), key=numbers):
        if numbers(version) > numbers(floor):
            found.append(f"{path}: needs GLIBC_{version}, above {floor}")
    for library in re.findall(r"^\s*NEEDED\s+(\S+)", text, re.M):
        # The dynamic linker itself has another name on each architecture.
        if library not in MAY_NEED[floor] and not library.startswith("ld-linux"):
            found.append(f"{path}: needs {library}")
    return found


def main():
    floor, *paths = sys.argv[1:]
    found = []
    for path in paths:
        text = subprocess.run(["objdump", "-p", path], stdout=subprocess.PIPE, check=True).stdout
        found += complaints(path, text.decode(), floor)
    print("\n".join(found) or f"{len(paths)} files need at most glibc {floor}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
