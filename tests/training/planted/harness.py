# SPDX-License-Identifier: Apache-2.0
"""Runs a planted trainer under the preload.

Environment: STAGEPROF_TEST_LIB, STAGEPROF_TEST_REPORT, STAGEPROF_TEST_BUILD.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import training

BUILD = os.environ["STAGEPROF_TEST_BUILD"]
CORES = 2  # of a trainer
SLOW_FILES = os.path.join(BUILD, "slow_files")


class CannotRun(Exception):
    """Says why."""


def environment(traced, run, settings):
    env = training.environment(traced, run, settings)
    env["PYTHONPATH"] = HERE
    env["PLANTED_DEVICE"] = os.path.join(BUILD, "libplanted_device.so")
    env["LD_LIBRARY_PATH"] = ":".join(os.path.join(BUILD, "fake_cuda", name) for name in ("", "13"))
    return env


def two_cores():
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])


def python(argv, folder, traced, interpreter=None, **settings):
    command = [interpreter or training.interpreter("h5py", "cv2"), *argv]
    env = environment(traced, os.path.join(folder, "run.zst"), settings)
    done = subprocess.run(
        command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
        preexec_fn=two_cores,
    )
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(argv)}: status {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode()


@contextlib.contextmanager
def slow(folder, latency_us, mb_per_s):
    """A view of the folder in which reading is slow."""
    if not os.path.exists(SLOW_FILES):
        raise CannotRun("built without libfuse3")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK) or not shutil.which("fusermount3"):
        raise CannotRun("no right to /dev/fuse, or no fusermount3")
    view = folder + "-view"
    os.makedirs(view)
    command = [SLOW_FILES, folder, view, str(latency_us), str(mb_per_s)]
    server = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        until = time.monotonic() + 10
        while not os.path.ismount(view):
            if server.poll() is not None or time.monotonic() > until:
                server.kill()
                raise CannotRun(f"no FUSE mount: {server.communicate()[1].decode().strip()}")
            time.sleep(0.01)
        yield view
    finally:
        subprocess.run(["fusermount3", "-u", "-q", "-z", view])
        server.wait(10)


def record_program(program, argv, folder, latency_us=0, mb_per_s=0, launcher=(), **how):
    """Trains on a folder of its own; the run lies in folder/run.zst. Returns what it printed."""
    data = os.path.join(folder, "data")
    os.makedirs(data)
    python([program, "make", data, *argv], folder, traced=False, **how)
    train = [*launcher, program, "train"]
    if latency_us:
        with slow(data, latency_us, mb_per_s) as view:
            return python([*train, view, *argv], folder, traced=True, **how)
    return python([*train, data, *argv], folder, traced=True, **how)


def record(trainer, folder, ranks=1, **storage):
    """Trains; the run lies in folder/run.zst."""
    program = os.path.join(HERE, "trainers", trainer + ".py")
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={ranks}"]
    record_program(program, [], folder, launcher=launcher if ranks > 1 else [], **storage)
    return os.path.join(folder, "run.zst")


def report(run, view="summary", *options):
    command = [os.environ["STAGEPROF_TEST_REPORT"], view, "--format=json", *options, run]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


@contextlib.contextmanager
def scratch():
    keep = os.environ.get("STAGEPROF_TEST_KEEP")
    folder = tempfile.mkdtemp(prefix="stageprof-planted-")
    try:
        yield folder
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
