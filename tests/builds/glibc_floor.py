#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""glibc_floor.py library|program FILE...: no FILE needs a version of glibc above 2.17, and no FILE
needs a library that its kind's row does not list. Reads what `objdump -p` prints of the built file.
"""

import re
import subprocess
import sys

FLOOR = "2.17"
# The tools are programs of their own: libraries of glibc do not change a host there.
LIBC = {"libc.so.6"}
MAY_NEED = {
    "library": LIBC,
    "program": LIBC | {"libm.so.6", "libpthread.so.0", "libdl.so.2"},
}


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def complaints(path, text, kind):
    """Each fault in the text that objdump printed of the file."""
    found = []
    versions = re.findall(r"\bGLIBC_([0-9.]+)", text.split("Version References:")[-1])
    if not versions:
        found.append(f"{path}: no version of glibc, so nothing was checked")
    for version in sorted(set(versions), key=numbers):
        if numbers(version) > numbers(FLOOR):
            found.append(f"{path}: needs GLIBC_{version}, above {FLOOR}")
    for library in re.findall(r"^\s*NEEDED\s+(\S+)", text, re.M):
        # The dynamic linker itself has another name on each architecture.
        if library not in MAY_NEED[kind] and not library.startswith("ld-linux"):
            found.append(f"{path}: needs {library}")
    return found


def main():
    kind, *paths = sys.argv[1:]
    found = []
    for path in paths:
        text = subprocess.run(["objdump", "-p", path], stdout=subprocess.PIPE, check=True).stdout
        found += complaints(path, text.decode(), kind)
    print("\n".join(found) or f"{len(paths)} files need at most glibc {FLOOR}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
