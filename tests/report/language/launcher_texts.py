# SPDX-License-Identifier: Apache-2.0
"""launcher_texts.py LAUNCHER REPORT CATALOGUE: each text of the catalogue that stands in a program
has its translation there too.

The launcher contains a part of the catalogue, chosen by the files in which the texts stand. Names
of one word are left out, because a table of other names may have the same.
"""

import re
import subprocess
import sys
import tempfile

import po


def of_the_recorder(catalogue):
    """Texts that the recorder writes into a trace: the report alone translates them."""
    with open(catalogue, encoding="utf-8") as file:
        places = re.findall(r'^((?:#: .*\n)+)(?:#, .*\n)*msgid "(.*)"$', file.read(), re.M)
    preload = re.compile(r"(#: |preload/(?!settings/)\S+\s*)+")
    return {text for files, text in places if preload.fullmatch(files)}


def constants(program):
    """The bytes of a program's section .rodata."""
    with tempfile.NamedTemporaryFile() as out:
        command = ["objcopy", "--dump-section", f".rodata={out.name}", program, "/dev/null"]
        subprocess.run(command, check=True)
        return out.read()


def lacking(program, entries):
    """Texts in the program without their translation, and how many stand there."""
    content = constants(program)
    lacks, found = [], 0
    for original, text in entries:
        if re.search("[a-z] ", original) and b"\0" + original.encode() + b"\0" in content:
            found += 1
            if b"\0" + text.encode() + b"\0" not in content:
                lacks.append(original)
    return lacks, found


def main():
    launcher, report, catalogue = sys.argv[1:]
    recorders = of_the_recorder(catalogue)
    entries = [entry for entry in po.entries(catalogue) if entry[0] not in recorders]
    failed = 0
    for program in launcher, report:
        lacks, found = lacking(program, entries)
        for text in lacks:
            print(f"{program}: no translation of {text!r}", file=sys.stderr)
        # The report has nearly all; the launcher has its own commands, options and errors.
        if lacks or found < 100:
            print(f"{program}: {len(lacks)} of {found} texts lack a translation", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
