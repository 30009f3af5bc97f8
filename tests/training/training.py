# SPDX-License-Identifier: Apache-2.0
"""Runs a Python program under the preload and gives back what was recorded of it.

Environment: STAGEPROF_TEST_LIB; STAGEPROF_TEST_TORCH, an interpreter. Exit 77 with a reason where
no interpreter has the modules needed.
"""

import json
import os
import subprocess
import sys
import tempfile

from ranges import ROOT, Run

HERE = os.path.dirname(os.path.abspath(__file__))
TRAINERS = os.path.join(ROOT, "tests", "programs", "trainers")
SKIP = 77
SHARE, CALL_NS = 0.05, 5000


def skip(reason):
    """Ends the test program; unittest takes it for an error inside of a test."""
    print("skipped:", reason)
    sys.exit(SKIP)


def interpreter(*modules):
    """One that trains: $STAGEPROF_TEST_TORCH, or what scripts/find-python.sh finds."""
    asked = os.environ.get("STAGEPROF_TEST_TORCH")
    if asked:
        test = "".join(f"import {module};" for module in ("torch", *modules))
        if subprocess.run([asked, "-c", test], stderr=subprocess.DEVNULL).returncode != 0:
            skip(f"{asked} has no torch")
        return asked
    found = subprocess.run(
        ["bash", os.path.join(ROOT, "scripts", "find-python.sh"), *modules],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    if found.returncode != 0:
        skip(found.stderr.decode().strip())
    return found.stdout.decode().strip()


def paddle():
    """An interpreter with Paddle, in the environment that scripts/test --nightly makes."""
    path = os.path.join(ROOT, "build", "venv-paddle", "bin", "python")
    if not os.path.exists(path):
        skip("no build/venv-paddle: scripts/test --nightly makes it")
    return path


def frameworks(year=None):
    """An interpreter with frameworks of other projects, in the environment that scripts/test
    --nightly makes; year: as they were then."""
    name = f"venv-frameworks-{year}" if year else "venv-frameworks"
    path = os.path.join(ROOT, "build", name, "bin", "python")
    if not os.path.exists(path):
        skip(f"no build/{name}: scripts/test --nightly makes it")
    return path


def environment(traced, run, settings):
    base = {k: v for k, v in os.environ.items() if not k.startswith("STAGEPROF_")}
    base.update(PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1")
    if traced:
        base.update(LD_PRELOAD=os.environ["STAGEPROF_TEST_LIB"], STAGEPROF_OUTPUT=run, **settings)
    return base


def execute(command, folder, traced=True, **settings):
    """Returns the finished process; the run lies in folder/run.zst."""
    return subprocess.run(
        command,
        cwd=folder,
        env=environment(traced, os.path.join(folder, "run.zst"), settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=300,
    )


def record(command, **settings):
    """The run and the output of a program that ends well."""
    with tempfile.TemporaryDirectory() as folder:
        done = execute(command, folder, **settings)
        if done.returncode != 0:
            raise AssertionError(f"status {done.returncode}: {done.stderr.decode()}")
        return Run(os.path.join(folder, "run.zst")), done


def report(view, run, *options):
    command = [os.environ["STAGEPROF_TEST_REPORT"], view, "--format=json", *options, run]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def told(verdict):
    """The verdict's code; of cannot-tell, its reason."""
    return verdict["reason"] or verdict["code"]


def answers(summary):
    """False where the report abstains, because other programs had the cores: says so. Its rows and
    what-ifs are compared all the same."""
    if told(summary["verdict"]) != "machine-busy":
        return True
    print("not compared: a verdict, for other programs had the cores", flush=True)
    return False


def allowed_ns(calls, ns, core_wait_ns, own_cost):
    """How far a row may be from a program's own timer. Between the timer and the recorder's event
    another program may get the core, and the recorder packs the events of a full window: at most
    once a call."""
    blocks_ns = min(own_cost["block_ns"] or 0, calls * (own_cost["stall_ns_max"] or 0))
    return SHARE * ns + CALL_NS * calls + core_wait_ns + blocks_ns
