# SPDX-License-Identifier: Apache-2.0
"""exports.py SOURCE BUILD LIBRARY: the built libstageprof.so, the tables and the files of preload/
say the same.

Each source that the library is built of is preprocessed as the build does it, so that a name in a
comment, or in a file that no CMakeLists.txt names, is no wrapper.
"""

import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import sys

# Names of our own and of what is linked in: in the host they would take the place of the host's
# own.
OURS = re.compile(r"(sp_|stageprof|ZSTD|ZBUFF|FSE|HUF|HIST|XXH|POOL|ERR_|_Unwind|unw_)")
# SP_HOOK, SP_ALIAS and SP_ALIAS_STRUCT after the preprocessor: the exported name and its wrapper.
EXPORTED = re.compile(
    r'(\w+)\s*(?:__asm__\("(\w+)"\)\s*)?__attribute__\(\(visibility\("default"\)\)\)'
    r"\s*__attribute__\(\(alias\(([^)]*)\)\)\)"
)
ASSEMBLY = re.compile(r'"\.globl (\w+)\\n"(?!\s*"\.hidden)')
PLAIN = re.compile(
    r'__attribute__\(\(visibility\("default"\)\)\)\s+(?!__attribute__)\w[\w\s*]*?(\w+)\s*\('
)
FOUND_BY_CALLER = re.compile(r"sp_caller_original_get\(\s*&sp_caller_original_(\w+)")
MADE = re.compile(r"\bSP_EV_(\w+)\b(?!\s*=\s*\()")  # but the enum's own lines, `SP_EV_read = (20),`

failures = []


def complain(text):
    print(text, file=sys.stderr)
    failures.append(text)


def rows(path, macro):
    """The arguments of each line MACRO(...) of a table, and its line number."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(macro + r"\(([^)]*)", line)
        if found:
            yield number, [argument.strip() for argument in found.group(1).split(",")]


def is_recorded(source, phase):
    """True where a row of a table, or a source, of preload/ gives a call this phase."""
    for path in (source / "preload").rglob("*.*"):
        column = rf",\s*{phase},|\"{phase}\"" if path.suffix in (".def", ".py") else None
        if re.search(column or rf"\bSP_PHASE_{phase}\b", path.read_text(errors="replace")):
            return True
    return False


def preprocessed(command):
    arguments = shlex.split(command["command"])
    at = arguments.index("-o")
    arguments[at : at + 2] = []
    arguments[arguments.index("-c")] = "-E"
    result = subprocess.run(arguments, cwd=command["directory"], capture_output=True, text=True)
    if result.returncode:
        complain(f"{command['file']}: {result.stderr}")
    return result.stdout


def main():
    source, build, library = (pathlib.Path(argument) for argument in sys.argv[1:4])
    commands = [
        c
        for c in json.loads((build / "compile_commands.json").read_text())
        if "preload/CMakeFiles/" in c["output"] and "/stageprof_recorder.dir/" not in c["output"]
    ]
    assert commands, "no source of preload/ in compile_commands.json"

    built = {pathlib.Path(c["file"]).resolve() for c in commands}
    on_disk = [
        p for p in (source / "preload").rglob("*.[cS]") if p.name != "fault.c"
    ]  # of builds with the seam
    assert len(on_disk) > 50, f"{len(on_disk)} sources in preload/"
    for path in sorted(on_disk):
        if path.resolve() not in built:
            complain(
                f"{path.relative_to(source)}: no part of libstageprof.so; add it to preload/CMakeLists.txt"
            )

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        texts = list(pool.map(preprocessed, commands))
    hooks, by_caller, made = {}, set(), set()
    for command, text in zip(commands, texts):
        text = re.sub(r"^#.*$", "", text, flags=re.M)
        file = pathlib.Path(command["file"]).relative_to(source)
        hooks.update((asm or name, file) for name, asm, _ in EXPORTED.findall(text))
        hooks.update(
            (name, file) for pattern in (PLAIN, ASSEMBLY) for name in pattern.findall(text)
        )
        by_caller.update(FOUND_BY_CALLER.findall(text))
        made.update(MADE.findall(text))

    # A library that cannot be found would keep every program of the job from starting.
    needed = re.findall(
        r"\(NEEDED\).*\[(.*)\]",
        subprocess.run(
            ["readelf", "-d", library], capture_output=True, text=True, check=True
        ).stdout,
    )
    needed = [name for name in needed if not name.startswith("ld-linux")]
    if needed != ["libc.so.6"]:
        complain(f"NEEDED: {needed}; only libc.so.6 may be")

    symbols = subprocess.run(
        ["readelf", "-W", "--dyn-syms", library], capture_output=True, text=True, check=True
    ).stdout
    # Number, value, size, type, binding, visibility, section, name. ld lists hidden bounds of
    # sections; no lookup finds them.
    exported = {
        row[7].split("@")[0]
        for row in map(str.split, symbols.splitlines())
        if len(row) > 7 and row[5] == "DEFAULT" and row[6].isdigit()
    }
    assert exported, "nothing is exported"
    for name in sorted(exported - set(hooks)):
        complain(f"exported: {name}, which no SP_HOOK or SP_ALIAS of a built source makes")
    for name in sorted(set(hooks) - exported):
        complain(f"{hooks[name]}: the hook {name} is not exported by {library.name}")
    for name in sorted(exported):
        if OURS.match(name) and name not in by_caller:
            complain(f"exported: {name}, a name of ours or of a library inside")

    originals = source / "preload/resolve/originals.def"
    for number, (name, _) in rows(originals, "SP_ORIGINAL"):
        if name not in exported:
            complain(
                f"originals.def:{number}: {name} has no wrapper: write SP_HOOK(…, {name}, …), or remove the line"
            )

    # An event that no hook makes would read as "never happened".
    events = list(rows(source / "trace/events.def", "SP_EVENT"))
    assert len(events) > 100, f"{len(events)} events"
    for number, (_, name, *_) in events:
        if name not in made:
            complain(f"events.def:{number}: no source of libstageprof.so makes SP_EV_{name}")
    for number, (name, *_) in rows(source / "trace/phases.def", "SP_PHASE"):
        if not is_recorded(source, name):
            complain(f"phases.def:{number}: no call of a table in preload/frameworks is of {name}")
    print(f"{len(on_disk)} sources, {len(exported)} names, {len(events)} events")
    return bool(failures)


sys.exit(main())
