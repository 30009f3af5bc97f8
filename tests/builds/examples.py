# SPDX-License-Identifier: Apache-2.0
"""examples.py SOURCE WORK CMAKE GENERATOR [--whole]: the examples of CONTRIBUTING.md, applied to a
copy of the tree in WORK.

The compiler has to take their files. Then each part that the compiler or the check of the documents
misses is left out in turn, which has to fail with a message that says why. --whole: the preset dev
builds the copy with all examples; programs that count their own calls run, and are compared with
the report; and the parts that the build or a test misses are left out, too.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

BLOCK = re.compile(
    r"^ *<!-- example (\w+): (\S+) (at end|after (.*?)) -->\n *```\w*\n(.*?)^ *```$",
    re.M | re.S,
)
WHOLE = re.compile(r"^ *<!-- example (\w+): (\S+) is (\S+) -->$", re.M)  # a file of its own
SOURCE, WORK, CMAKE = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
TREE, BUILD = WORK / "tree", WORK / "build"
HERE = pathlib.Path(__file__).parent


class Part:
    """One code block: its lines, and the file that they are put into."""

    def __init__(self, example, file, place, after, text):
        self.example, self.file, self.place, self.after = example, file, place, after
        self.text = re.sub(r"^   ", "", text, flags=re.M)  # the indent of the list's item
        self.path = TREE / file

    def apply(self):
        if self.place == "new":
            assert not self.path.exists(), f"{self.file} is there already"
            self.path.write_text(self.text)
            return
        text = self.path.read_text()
        at = len(text)
        if self.after:
            assert (
                text.count(self.after) == 1
            ), f"{self.file}: {text.count(self.after)} times {self.after!r}, not once"
            at = text.index("\n", text.index(self.after)) + 1
        self.path.write_text(text[:at] + self.text + text[at:])

    def leave_out(self):
        """Takes the part out; returns what puts it back, with the old times, so that nothing is
        built again."""
        whole, times = self.path.read_text(), os.stat(self.path)
        if self.place == "new":
            self.path.unlink()
        else:
            assert whole.count(self.text) == 1, f"{self.file}: the part is not there once"
            self.path.write_text(whole.replace(self.text, ""))

        def put_back():
            self.path.write_text(whole)
            os.utime(self.path, ns=(times.st_atime_ns, times.st_mtime_ns))

        return put_back


def run(command, **options):
    """The finished process, whose output is text in `stdout`."""
    return subprocess.run(
        [str(c) for c in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )


def must(command, **options):
    done = run(command, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def build(*targets):
    return run([CMAKE, "--build", BUILD, "-j", "2", "--target", *targets])


def configure(*arguments):
    must([CMAKE, "-S", TREE, "-B", BUILD, *arguments], cwd=TREE)


def is_ninja():
    return (BUILD / "build.ninja").exists()


def library():
    """With Ninja, `stageprof` is the launcher's file."""
    return "libstageprof.so" if is_ninja() else "stageprof"


def compile_one(side, source):
    """Compiles one object and nothing else: an object that another source gives in a tree with a
    part left out would be newer than the part that is put back."""
    target = {
        "trace": "stageprof_trace",
        "preload": "stageprof",
        "analyzer": "stageprof_analyzer",
    }[side]
    one = f"{side}/CMakeFiles/{target}.dir/{source}.o"
    if is_ninja():
        return build(one)
    # Makefiles know an object's headers only after the next build of all.
    (BUILD / one).unlink(missing_ok=True)
    return run(["make", "-C", BUILD / side, f"{source}.o"])


def exports():
    return run(
        [
            sys.executable,
            "-B",
            TREE / "tests/builds/exports.py",
            TREE,
            BUILD,
            BUILD / "libstageprof.so",
        ]
    )


def documents():
    return run([sys.executable, "-B", TREE / "tests/builds/documents.py", TREE])


def readings():
    """With the view's own number of readings of the trace."""
    done = build("unit_analyzer_readings")
    return done if done.returncode else run([BUILD / "unit_analyzer_readings"])


def rows():
    """Each row of the verdict's tables is expected by a test."""
    checks = TREE / "tests/builds/verdict_tables.py"
    return run([sys.executable, "-B", checks, TREE, "cc", "Rows"])


def build_and_check():
    done = build(library())
    return done if done.returncode else exports()


def compiles(side, source):
    return lambda: compile_one(side, source)


# (example, file): how a part that is left out shows, and words of the message.
LEFT_OUT = {
    ("bz2", "trace/events.def"): (
        compiles("preload", "hooks/hooks_compress.c"),
        "SP_EV_bz2_decompress",
    ),
    ("jxl", "trace/decoders.def"): (compiles("trace", "events.c"), "SP_CLASS_JXL"),
    ("jxl", "trace/events.def"): (compiles("preload", "hooks/hooks_jxl.c"), "SP_EV_jxl_decode"),
    ("notes", "analyzer/views/views.def"): (
        compiles("analyzer", "views/view_notes.c"),
        "sp_view_notes",
    ),
    ("notes", "docs/REFERENCE.md"): (documents, "no view notes"),
    ("hooks", "analyzer/verdict/verdict.def"): (rows, "no row hooks"),
    ("hooks", "analyzer/verdict/code.def"): (rows, "no line of the code hook-bound"),
    ("hooks", "tests/builds/verdict_tables.py"): (rows, "no run reaches hooks"),
    ("large_writes", "analyzer/verdict/advice.def"): (rows, "no advice large_writes"),
    ("large_writes", "tests/training/changes.py"): (rows, "large_writes has no case"),
    ("zero_grad_share", "analyzer/metrics/metric.def"): (
        compiles("analyzer", "verdict/judge.c"),
        "SP_METRIC_zero_grad_share",
    ),
    ("zero_grad_share", "analyzer/verdict/verdict.def"): (
        rows,
        "nothing asks for zero_grad_share",
    ),
    ("augment", "trace/phases.def"): (
        compiles("preload", "frameworks/python.c"),
        "SP_PHASE_augment",
    ),
}
# The same in a tree that is built.
LEFT_OUT_OF_BUILD = {
    ("bz2", "preload/hooks/hooks_compress.c"): (
        build_and_check,
        "no source of libstageprof.so makes SP_EV_bz2_decompress",
    ),
    ("jxl", "preload/hooks/hooks_jxl.c"): (lambda: build(library()), "hooks_jxl.c"),
    ("jxl", "preload/CMakeLists.txt"): (build_and_check, "hooks_jxl.c: no part of libstageprof.so"),
    ("notes", "analyzer/views/view_notes.c"): (lambda: build("stageprof-report"), "view_notes.c"),
    ("notes", "analyzer/CMakeLists.txt"): (lambda: build("stageprof-report"), "sp_view_notes"),
    ("notes", "docs/ARCHITECTURE.md"): (readings, "notes"),
    ("augment", "preload/frameworks/python.def"): (build_and_check, "is of augment"),
}


def copy_tree():
    shutil.rmtree(WORK, ignore_errors=True)
    listed = subprocess.run(
        ["git", "-C", SOURCE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        print("skipped: no git checkout")
        sys.exit(77)
    for name in filter(None, listed.stdout.split("\0")):
        if not (SOURCE / name).is_file():
            continue  # removed, and not committed yet
        (TREE / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SOURCE / name, TREE / name)


def needs_bzlib():
    if run(["cc", "-E", HERE / "examples/bz2.c"]).returncode:
        print("skipped: no bzlib.h (libbz2-dev)")
        sys.exit(77)


def program(name, *arguments):
    path = WORK / name
    must(["cc", "-O1", "-o", path, HERE / f"examples/{name}.c", *arguments])
    return path


def counts(path, name):
    """The program's own counts and the report's, by stage."""
    trace = WORK / f"{name}.zst"
    own = json.loads(
        must(
            [path],
            env={
                **os.environ,
                "LD_PRELOAD": str(BUILD / "libstageprof.so"),
                "STAGEPROF_OUTPUT": str(trace),
            },
        )
    )
    stages = json.loads(must([BUILD / "stageprof-report", "stages", "--format=json", trace]))[
        "stages"
    ]
    for stage, expected in own.items():
        found = [s for s in stages if s["stage"] == stage]
        assert found, f"{name}: no stage {stage}"
        for field, value in expected.items():
            assert (
                found[0][field] == value
            ), f"{name}: {field} of {stage}: {found[0][field]}, not {value}"
    return trace


def run_examples():
    counts(program("bz2", "-lbz2"), "bz2")
    must(["cc", "-shared", "-fPIC", "-O1", "-o", WORK / "libjxl.so", HERE / "examples/fake_jxl.c"])
    trace = counts(program("jxl", WORK / "libjxl.so"), "jxl")
    must([BUILD / "stageprof-report", "stages", "--sort=total", trace])
    summary = must([BUILD / "stageprof-report", "summary", "--lang=en", trace])
    uncalled = re.search(r"no calls .*", summary)[0]
    assert "WebP decode" in uncalled and "JPEG XL" not in uncalled, uncalled
    assert "JPEG XL decode" in must(
        [BUILD / "stageprof-report", "summary", "--lang=en", WORK / "bz2.zst"]
    )
    notes = json.loads(must([BUILD / "stageprof-report", "notes", "--format=json", trace]))
    assert isinstance(notes["notes"], list), notes
    assert "\n  notes: " in must([BUILD / "stageprof-report", "--help"])
    assert documents().returncode == 0, documents().stdout
    for check in exports, readings:
        done = check()
        assert done.returncode == 0, done.stdout


def apply_examples():
    """The parts of CONTRIBUTING.md, put into the copy."""
    text = (SOURCE / "CONTRIBUTING.md").read_text()
    parts = [Part(*groups) for groups in BLOCK.findall(text)]
    for example, file, source in WHOLE.findall(text):
        parts.append(Part(example, file, "new", "", (SOURCE / source).read_text()))
    assert len(parts) == text.count(
        "<!-- example "
    ), "an example's comment that has neither form"
    assert {(p.example, p.file) for p in parts} == {
        *LEFT_OUT,
        *LEFT_OUT_OF_BUILD,
    }, "an example is in neither table, or has gone"
    for part in parts:
        part.apply()
    return parts


def fails_without(part, check, words):
    put_back = part.leave_out()
    done = check()
    put_back()
    found = done.returncode != 0 and words in done.stdout
    print(
        f"{part.example} without its part of {part.file}: {'fails as it should' if found else 'NOT FOUND'}"
    )
    if not found:
        print(done.stdout[-3000:])
    return found


def build_and_run(start):
    must([CMAKE, "--build", BUILD, "-j", "2"])
    print(f"built in {time.monotonic() - start:.0f} s")
    needs_bzlib()
    configure("-D", "BUILD_TESTING=ON", "-D", "STAGEPROF_NESTED=ON")
    run_examples()


def main():
    start = time.monotonic()
    is_whole = "--whole" in sys.argv
    copy_tree()
    parts = apply_examples()
    flags = "-D", "BUILD_TESTING=OFF", "-D", "CMAKE_C_FLAGS_DEBUG=-O0 -g1"
    configure("--preset", "dev", "-G", sys.argv[4], *flags)
    if is_whole:
        build_and_run(start)
    checks = {**LEFT_OUT, **(LEFT_OUT_OF_BUILD if is_whole else {})}
    for check, _ in checks.values():
        done = check()
        assert done.returncode == 0, done.stdout
    found = [
        fails_without(part, *checks[part.example, part.file])
        for part in parts
        if (part.example, part.file) in checks
    ]
    print(f"{time.monotonic() - start:.0f} s")
    return 0 if all(found) else 1


sys.exit(main())
