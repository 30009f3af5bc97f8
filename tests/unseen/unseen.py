# SPDX-License-Identifier: Apache-2.0
"""Programs that the rules were not made for, each against timers of its own.

    unseen.py [--python PYTHON] [--preload] [--keep FOLDER] [--say] [--few | NAME...]
    unseen.py [--python PYTHON] [--stop-after SECONDS] --script SCRIPT [ARGUMENT...]

Records each program of this folder, or any trainer under outside_timers.py, and prints a line for
each: program, steps, the row that is furthest from the truth, verdict, confidence, and whether the
verdict is true: `true`, `false`, `timid` where it abstains and the truth is clear, `misleads` where
the first advice lacks the words that the program asks for (`advises`). Status 1 where a verdict is
false or misleads, or where steps are wrong. --few: some that were wrong once, each of which has to
be true. --preload: as LD_PRELOAD, not as `stageprof run`, which samples, too. --say: what the
report says. --keep: the runs stay in FOLDER.
"""

import argparse
import contextlib
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TRAINING = os.path.join(os.path.dirname(HERE), "training")
sys.path.insert(0, TRAINING)

import outside
import programs
import training

LAUNCHER = os.environ.get("STAGEPROF_TEST_LAUNCHER", os.path.join(outside.BUILT, "stageprof"))
OWN = {"unseen", "watched", "sets"}  # no programs
FEW = ["hang_collective", "inference_only", "lbfgs_curve"]  # once wrong
RANKS = {"two_ranks": 2, "late_rank": 2, "local_average": 2, "hang_collective": 2}
# How a program that hangs is ended: a signal, and the seconds after its truth.
ENDS = {
    "hang_queue": (signal.SIGINT, 12),
    "hang_worker_lock": (signal.SIGTERM, 12),
    "hang_socket": (signal.SIGKILL, 12),
    "hang_collective": (signal.SIGINT, 10),
    "hang_fifo": (signal.SIGINT, 12),
    "hang_lock_at_fork": (signal.SIGINT, 12),
    "hang_pool_killed": (signal.SIGINT, 12),
    "hang_openmp_fork": (signal.SIGINT, 12),
    "hang_rejection": (signal.SIGINT, 12),
    "hang_thread_join": (signal.SIGINT, 12),
    "busy_at_end": (signal.SIGINT, 12),
}
# A program that does not end: signals, and the seconds after each.
LIMITS = [(0, 240), (signal.SIGTERM, 60), (signal.SIGKILL, None)]
COLUMNS = "{:20} {:>9} {:32} {:24} {:7} {}"


def names_of():
    found = {os.path.basename(path)[:-3] for path in glob.glob(os.path.join(HERE, "*.py"))}
    return sorted(found - OWN)


def command_of(name, python, run, is_preload):
    program = [python, os.path.join(HERE, name + ".py")]
    if name in RANKS:
        many = f"--nproc_per_node={RANKS[name]}"
        program[1:1] = ["-m", "torch.distributed.run", "--standalone", many]
    library = "--library=" + os.environ["STAGEPROF_TEST_LIB"]
    return program if is_preload else [LAUNCHER, "run", library, "-o", run, *program]


def environment_of(folder, run, is_preload):
    env = training.environment(is_preload, run, {})
    paths = [os.path.join(TRAINING, "programs"), HERE]
    env.update(PYTHONPATH=os.pathsep.join(paths), UNSEEN_FOLDER=folder, HF_HUB_OFFLINE="1")
    return env


def ahead_of_others():
    """Runs in the child. Ctrl-C is not ignored, as it is in background jobs. Other programs
    lengthen what computes, and come after it where the machine lets them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with contextlib.suppress(OSError):  # the kernel's share of a session counts first
        with open("/proc/self/autogroup", "w") as file:
            file.write("-15")
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -15)


def truth_in(path):
    """The last line of JSON; None: not yet."""
    with open(path, errors="replace") as file:
        lines = [line for line in file if line.startswith("{") and line.endswith("}\n")]
    return json.loads(lines[-1]) if lines else None


def finish(process, name, out):
    """Waits for the end; a program that hangs is ended after its truth is known."""
    if name in ENDS:
        number, seconds = ENDS[name]
        while process.poll() is None and truth_in(out) is None:
            time.sleep(0.1)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        if process.poll() is None:
            os.killpg(process.pid, number)
    for number, seconds in LIMITS:
        if process.poll() is None:
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)


def end_left(folder):
    """Ranks have sessions of their own, which go on where torchrun is killed."""
    mark = f"UNSEEN_FOLDER={folder}\0".encode()
    for path in glob.glob("/proc/[0-9]*/environ"):
        with contextlib.suppress(OSError), open(path, "rb") as environ:
            if mark in environ.read():
                os.kill(int(path.split("/")[2]), signal.SIGKILL)


def record(name, python, is_preload, folder):
    """Returns truth (None: it failed), stderr, the run."""
    run, out, err = (os.path.join(folder, name + end) for end in (".run", ".out", ".err"))
    with open(out, "w") as stdout, open(err, "w") as stderr:
        process = subprocess.Popen(
            command_of(name, python, run, is_preload),
            cwd=folder,
            env=environment_of(folder, run, is_preload),
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            preexec_fn=ahead_of_others,
        )
        finish(process, name, out)
    end_left(folder)
    with open(err, errors="replace") as file:
        return truth_in(out), file.read(), run


def worst(lines):
    """The line furthest from the truth among those that are wrong; else among all."""
    rows = [line for line in lines if line.row not in ("steps", "epochs")]
    chosen = [line for line in rows if not line.right] or rows
    return max(chosen, key=lambda line: abs(line.found - line.true), default=None)


def told_row(line):
    if line is None:
        return "-"
    found, true = f"{line.found / 1e9:.3f}", f"{line.true / 1e9:.3f} s"
    return f"{line.row[:15]} {found} of {true}" + ("" if line.right else " !")


def answer(truth, summary):
    allowed, verdict = programs.right_verdicts(truth), summary["verdict"]
    if verdict["code"] in allowed or training.told(verdict) in allowed:
        first = summary["advice"][0]["text"] if summary["advice"] else ""
        return "true" if truth.get("advises", "") in first else "misleads"
    return "timid" if verdict["code"] in programs.ABSTAINS else "false"


def say(summary, truth):
    verdict = summary["verdict"]
    rows = programs.rows_of(truth)
    shares = {name: round(ns / max(truth["span"], 1), 3) for name, ns in rows.items()}
    print("    true:", {k: v for k, v in sorted(shares.items(), key=lambda i: -i[1]) if v >= 0.01})
    print("    says:", verdict["text"], verdict.get("doubts") or "")
    for piece in summary["advice"]:
        saves = piece["saves_least_share"], piece["saves_most_share"]
        print("    advises:", piece["id"], saves, piece["text"][:160])


def judge(name, truth, summary, allowed):
    """Prints the line; returns whether the answer is true enough."""
    lines, verdict = list(programs.compare(truth, summary)), summary["verdict"]
    steps = summary["steps"]["count"] or 0
    shown = str(steps) if steps == truth["steps"] else f"{steps}!={truth['steps']}"
    told, is_true = training.told(verdict), answer(truth, summary)
    row = told_row(worst(lines))
    print(COLUMNS.format(name, shown, row, told, verdict["confidence"], is_true), flush=True)
    return is_true in allowed and steps == truth["steps"]


def judge_program(name, arguments, folder):
    python = arguments.python or training.interpreter()
    truth, errors, run = record(name, python, arguments.preload, folder)
    if truth is None:
        lines = errors.strip().splitlines() or ["no output"]
        reason = next((line for line in lines[::-1] if "Error" in line), lines[-1])
        print(f"{name:20} {'skipped' if 'ModuleNotFound' in errors else 'failed'}: {reason}")
        return "ModuleNotFound" in errors
    summary = training.report("summary", run)
    is_good = judge(name, truth, summary, {"true"} if arguments.few else {"true", "timid"})
    if arguments.say:
        say(summary, truth)
    return is_good


def judge_script(arguments):
    python = arguments.python or training.interpreter()
    events, summary = outside.run(python, arguments.script, arguments.stop_after)
    truth = outside.truth_of(events)
    told = "false" if outside.is_contradicted(summary["verdict"]["code"], truth) else "true"
    lines = list(programs.compare(truth, summary))
    name, verdict = os.path.basename(arguments.script[0])[:20], summary["verdict"]
    steps = f"{summary['steps']['count']} of {truth['steps']}"
    row = told_row(worst(lines))
    print(COLUMNS.format(name, steps, row, training.told(verdict), verdict["confidence"], told))
    return told == "true" and all(line.right for line in lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python")
    parser.add_argument("--preload", action="store_true")
    parser.add_argument("--say", action="store_true")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("--stop-after", type=float)
    parser.add_argument("--script", nargs=argparse.REMAINDER)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    if arguments.script:
        sys.exit(0 if judge_script(arguments) else 1)
    good = []
    for name in FEW if arguments.few else arguments.names or names_of():
        with tempfile.TemporaryDirectory() as folder:
            kept = os.path.join(arguments.keep, name) if arguments.keep else folder
            shutil.rmtree(kept, ignore_errors=True)
            os.makedirs(kept)
            good.append(judge_program(name, arguments, os.path.abspath(kept)))
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
