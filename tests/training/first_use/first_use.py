# SPDX-License-Identifier: Apache-2.0
"""Eight jobs with a planted fault, as a new user meets them: `stageprof run train.py`, the edit
that the card asks for, `stageprof again`.

    first_use.py [PROGRAM...]

The card, on 80 columns, has to name the cause, the change and the line to edit, which ends in
"# edit" in these programs; the second card has to say that training became faster. Prints a row
for each job: the time of the first run, what its card lacks, the time of the second run, the
speed-up that its card confirms, and the cores of other programs. Where those keep the cores busy,
they may be the cause that the card names: then nothing is asked of it. Needs
STAGEPROF_TEST_LAUNCHER.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import training

LAUNCHER = os.environ["STAGEPROF_TEST_LAUNCHER"]
OTHERS_MOST = 0.2  # cores that other programs keep busy


class Job:
    """cause, change: patterns of the card. edits: old and new texts of the program."""

    def __init__(self, cause, change, *edits):
        self.cause, self.change, self.edits = cause, change, edits


WEIGHTS = "            weights = 1 / (1 + counts[self.labels])  # edit\n"
DRAW = "np.random.choice(len(self.labels), p=weights / weights.sum())"
CROP = "(200, 120, 264, 184)"
JOBS = {
    "costly_sampler": Job(
        "Input-bound.* the sampler",
        "Make the sampler cheaper",
        (WEIGHTS, ""),
        (DRAW, "np.random.randint(len(self.labels))"),
    ),
    "hdf5_chunks": Job(
        "waits for batches.* HDF5",
        "Make HDF5 chunks match the samples",
        ("chunks=(60,", "chunks=(1,"),
        ("robot.h5", "frames.h5"),
    ),
    "images_augment": Job(
        "Input-bound",
        "Make this line cheaper",
        (f"self.rotate(image).crop({CROP})", f"self.rotate(image.crop({CROP}))"),
    ),
    "no_workers": Job(
        "waits for batches",
        "Set num_workers to [1-9]",
        ("shuffle=True)", "shuffle=True, num_workers=1)"),
    ),
    "one_thread": Job(
        "Compute-bound",
        r"Try torch.set_num_threads\(\d+\)",
        ("set_num_threads(1)", "set_num_threads(2)"),
    ),
    "saves_by_rename": Job(
        "saving checkpoints takes",
        "Save less often or in the background",
        ("for (x,) in loader", "for step, (x,) in enumerate(loader)"),
        ("if loss < best + 1", "if step % 20 == 19"),
    ),
    "validates_often": Job("Validation-bound", "Validate less often", ("% 5 ==", "% 50 ==")),
    "waits_for_server": Job(
        "reading from other programs or servers",
        "Set num_workers to [2-9]",
        ("batch_size=8)", "batch_size=8, num_workers=8)"),
    ),
}


def busy_s():
    """The time of all cores since the machine began."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, *rest = map(int, file.readline().split()[1:9])
    return (user + nice + system + sum(rest[:2])) / os.sysconf("SC_CLK_TCK")


def children_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def lines_to_edit(path):
    """A pattern of the places that are right."""
    with open(path) as file:
        lines = [str(n) for n, line in enumerate(file, 1) if line.endswith("# edit\n")]
    return rf"\btrain\.py:({'|'.join(lines)})\b"


class Run:
    """A command of the launcher: its card, its time, and the cores of others."""

    def __init__(self, folder, *words):
        env = {**os.environ, "COLUMNS": "80", "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "HOME": folder}
        busy, own, began = busy_s(), children_s(), time.monotonic()
        done = subprocess.run(
            [LAUNCHER, *words], cwd=folder, env=env, stderr=subprocess.PIPE, encoding="utf-8",
            check=True,
        )
        self.wall_s = time.monotonic() - began
        self.others = (busy_s() - busy - (children_s() - own)) / self.wall_s
        self.lines = done.stderr[done.stderr.index("verdict ") :].split("\nstageprof: ")[0]
        self.card = re.sub(r"\s+", " ", self.lines)


def edit(path, edits):
    with open(path) as file:
        text = file.read()
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    with open(path, "w") as file:
        file.write(text)


def times(text):
    """The time by the number of steps, now and before, in ms."""
    units = {"µs": 1e-3, "ms": 1, "s": 1e3}
    found = re.search(r"number of steps: ([\d.]+) (\S+), before ([\d.]+) (\S+?)(?: |$)", text)
    return found and [float(found[n]) * units[found[n + 1]] for n in (1, 3)]


def faster(card):
    """The speed-up that the card confirms, as text; None: it does not."""
    found = re.search(r"steps: faster, speed-up ([\d.]+) \(95% interval ([\d.]+ to [\d.]+)\)", card)
    by_steps = times(card)
    if by_steps and by_steps[0] < by_steps[1]:
        return f"{by_steps[1] / by_steps[0]:.2f} of all time"
    return found and f"{float(found[1]):.2f} ({found[2]})"


class Row:
    def __init__(self, name):
        job = JOBS[name]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "train.py")
            shutil.copy(os.path.join(HERE, name + ".py"), path)
            line = lines_to_edit(path)
            first = Run(folder, "run", "--", PYTHON, "train.py")
            edit(path, job.edits)
            second = Run(folder, "again")
        wanted = {"cause": job.cause, "line": line, "change": job.change}
        self.name, self.first, self.second = name, first, second
        self.faster = faster(second.card)
        self.missing = [word for word, text in wanted.items() if not re.search(text, first.card)]
        self.missing += [] if self.faster else ["faster"]
        self.missing += ["80"] if any(len(row) > 80 for row in first.lines.splitlines()) else []
        self.others = max(first.others, second.others)

    def is_wrong(self):
        return bool(self.missing) and self.others <= OTHERS_MOST

    def text(self):
        return (
            f"| {self.name} | {self.first.wall_s:.1f} s | {', '.join(self.missing) or '-'} | "
            f"{self.second.wall_s:.1f} s | {self.faster or '-'} | {self.others:.1f} |"
        )


def main():
    rows = []
    for name in sys.argv[1:] or JOBS:
        rows.append(Row(name))
        print(rows[-1].text(), flush=True)
        if rows[-1].missing:
            print(rows[-1].first.lines, rows[-1].second.lines, sep="\n", flush=True)
    if any(row.is_wrong() for row in rows):
        return 1
    return 77 if any(row.missing for row in rows) else 0


if __name__ == "__main__":
    PYTHON = training.interpreter("h5py", "PIL")
    sys.exit(main())
