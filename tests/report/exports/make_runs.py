# SPDX-License-Identifier: Apache-2.0
"""make_runs.py FOLDER: the runs that the tests of exports share: real.zst, killed.zst, gpu.zst,
hostile.zst.

A real one of a loader with workers, one killed with all its processes in the middle, one from
make_hostile.
"""

import os
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
SKIP = 77


def interpreter():
    found = subprocess.run(
        ["bash", os.path.join(ROOT, "scripts", "find-python.sh")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    if found.returncode != 0:
        print("skipped:", found.stderr.decode().strip())
        sys.exit(SKIP)
    return found.stdout.decode().strip()


def start(python, folder, name, *arguments):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("STAGEPROF_")}
    environment.update(
        LD_PRELOAD=os.environ["STAGEPROF_TEST_LIB"],
        STAGEPROF_OUTPUT=os.path.join(folder, name),
        PYTHONDONTWRITEBYTECODE="1",
        OMP_NUM_THREADS="1",
    )
    return subprocess.Popen(
        [python, os.path.join(HERE, "trainer.py"), *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


def start_gpu(folder):
    """Known work on the device of tests/cuda/fake, with its CUPTI."""
    fake = os.environ["STAGEPROF_TEST_FAKE"]
    environment = {
        "LD_LIBRARY_PATH": ":".join([fake, f"{fake}/13", f"{fake}/cupti13"]),
        "LD_PRELOAD": os.environ["STAGEPROF_TEST_LIB"],
        "STAGEPROF_OUTPUT": os.path.join(folder, "gpu.zst"),
        "STAGEPROF_CUPTI": "1",
    }
    victim = os.path.join(os.environ["STAGEPROF_TEST_VICTIMS"], "cupti_work")
    subprocess.run([victim, "20"], env=environment, stdout=subprocess.DEVNULL, check=True)


def main(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    subprocess.run(
        [os.environ["STAGEPROF_TEST_HOSTILE"], os.path.join(folder, "hostile.zst")], check=True
    )
    start_gpu(folder)
    python = interpreter()
    real = start(python, folder, "real.zst")
    killed = start(python, folder, "killed.zst", "on")
    while b"epoch 1" not in killed.stdout.readline():
        if killed.poll() is not None:
            sys.exit(f"the trainer ended by itself: {killed.returncode}")
    time.sleep(0.05)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    if real.wait(timeout=120) != 0:
        sys.exit(f"the trainer failed: {real.returncode}")


if __name__ == "__main__":
    main(sys.argv[1])
