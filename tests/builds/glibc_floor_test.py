#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""glibc_floor.py finds a version that is too new, and a library that a host may not have."""

import sys

from glibc_floor import complaints

TEXT = """
Dynamic Section:
  NEEDED               libc.so.6
  SONAME               libstageprof.so

Version References:
  required from libc.so.6:
    0x06969194 0x00 03 GLIBC_2.14
"""


def expect(what, text, kind, part):
    found = complaints("a.so", text, kind)
    wrong = part not in "\n".join(found) if part else bool(found)
    if wrong:
        print(f"{what}: found {found}")
    return wrong


def main():
    newer = TEXT + "    0x069691b4 0x00 02 GLIBC_2.34\n"
    needs = TEXT.replace("  SONAME", "  NEEDED               libpthread.so.0\n  SONAME")
    failed = [
        expect("a library within its floor", TEXT, "library", ""),
        expect("a newer version", newer, "library", "GLIBC_2.34, above 2.17"),
        expect("2.9 is below 2.17", TEXT.replace("2.14", "2.9"), "library", ""),
        expect("libpthread in a library", needs, "library", "needs libpthread.so.0"),
        expect("libpthread in a tool", needs, "program", ""),
        expect("a file without versions", "Dynamic Section:\n", "library", "nothing was checked"),
    ]
    sys.exit(1 if any(failed) else 0)


if __name__ == "__main__":
    main()
