# SPDX-License-Identifier: Apache-2.0
"""The runs that the page is tried on, and the page of each.

Environment: STAGEPROF_TEST_LIB, STAGEPROF_TEST_REPORT, STAGEPROF_TEST_MAKE_TRACE,
STAGEPROF_TEST_FIND_PYTHON.
"""

import functools
import json
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SKIP = 77

# Names that could harm a page, a table or a terminal.
HOSTILE = [
    b"plain.jpg",
    b"<script>document.title='taken'<!script>.jpg",
    b"--><img src=x onerror=alert(1)>.jpg",
    b"' onmouseover='alert(1)' \" x=\".jpg",
    b"]]>&lt;b&gt;&amp;&#60;.jpg",
    "right\u202egpj.to\u2066left.jpg".encode(),
    b"escape\x1b[31mred\x1b]0;title\x07.jpg",
    b"new\nline\ttab\rreturn.jpg",
    b"not\xffutf8\xc3(.jpg",
    "\u5bbd\u5b57\u7b26\U0001f600\u0301.jpg".encode(),
    b"long" * 60 + b".jpg",
]


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIP)


def find_python():
    found = subprocess.run(
        ["bash", os.environ["STAGEPROF_TEST_FIND_PYTHON"], "torch"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if found.returncode != 0:
        skip(found.stderr.strip())
    return found.stdout.strip()


def make_files(folder):
    os.makedirs(folder, exist_ok=True)
    for i, name in enumerate(HOSTILE):
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            file.write(bytes(1000 + i))


def settings(run, **more):
    base = {k: v for k, v in os.environ.items() if not k.startswith("STAGEPROF_")}
    base.update(
        LD_PRELOAD=os.environ["STAGEPROF_TEST_LIB"],
        STAGEPROF_OUTPUT=run,
        STAGEPROF_COMMAND="1",
        OMP_NUM_THREADS="1",
        PYTHONDONTWRITEBYTECODE="1",
        **more,
    )
    return base


def read_hostile(work):
    """A program with a hostile argument that reads the files, and not many others."""
    run, files = os.path.join(work, "hostile.zst"), os.path.join(work, "files")
    make_files(files)
    program = (
        "import os, sys\nfor name in os.listdir(os.fsencode(sys.argv[1])):\n"
        "    open(os.path.join(os.fsencode(sys.argv[1]), name), 'rb').read()"
    )
    subprocess.run(
        [sys.executable, "-S", "-c", program, files, "</script><img src=x onerror=alert(2)>"],
        env=settings(run),
        check=True,
    )
    return run


def train(work, name, epochs, steps, kill_after=None):
    """Records a run; with kill_after, until it has printed that, and then SIGKILL to all of it."""
    run, files = os.path.join(work, name + ".zst"), os.path.join(work, "files")
    make_files(files)
    command = [find_python(), os.path.join(HERE, "trainer.py"), files, str(epochs), str(steps)]
    child = subprocess.Popen(
        command,
        env=settings(run, STAGEPROF_MODULES="2"),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with child.stdout:
        for line in child.stdout:
            if kill_after and line.strip() == kill_after:
                os.killpg(child.pid, signal.SIGKILL)
    status = child.wait()
    assert status == (-signal.SIGKILL if kill_after else 0), status
    return run


def sample(work, name, *command):
    run = os.path.join(work, name)
    stageprof = os.path.join(os.path.dirname(os.environ["STAGEPROF_TEST_REPORT"]), "stageprof")
    subprocess.run(
        [stageprof, "run", "-q", "--sample=500", f"--output={run}", "--", *command],
        env={k: v for k, v in os.environ.items() if not k.startswith("STAGEPROF_")},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return run


def sample_shares(work):
    """A run with samples of functions that take known shares."""
    busy = os.path.join(HERE, "..", "..", "programs", "victims", "busy_functions.py")
    return sample(work, "sampled.zst", sys.executable, busy, "1")


def sample_training(work):
    """A training without workers whose data set computes."""
    files = os.path.join(work, "files")
    make_files(files)
    trainer = os.path.join(HERE, "trainer.py")
    return sample(work, "training.zst", find_python(), trainer, files, "1", "12", "20", "0")


def make_large(work):
    """Many threads, files and events."""
    run = os.path.join(work, "large.zst")
    subprocess.run(
        [os.environ["STAGEPROF_TEST_MAKE_TRACE"], run, "2000000", "300", "60000"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return run


def report(*arguments):
    done = subprocess.run(
        [os.environ["STAGEPROF_TEST_REPORT"], *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


@functools.lru_cache(maxsize=None)
def view(name, run):
    return json.loads(report(name, "--format=json", run))


def page(work, run):
    path = os.path.join(work, os.path.basename(run) + ".html")
    report("html", run, "-o", path, "--force", "--symbols")
    return path
