# SPDX-License-Identifier: Apache-2.0
"""Advice and what-ifs are tested by doing: the change is made, and the gain is measured in pairs.

    changes.py [--nightly] [--table FILE] [--pairs N] [--keep FOLDER] [CASE...]

A case is a piece of advice or a what-if, and has a program in changes/. A run before the change and
one after it take turns (AB BA AB): the gain of a pair is measured by the program's own clock. The
report of the run before promises a range for the saving. It is right where it contains the median
of the gains, give or take half of what lies between the smallest and the greatest of them. Nine of
ten have to be right, each advice has to be given before the change and has to gain 3%, and none may
be given again after it. Advice that asks for a name is done by recording again with that name.
--table writes the table into FILE, between its marks, with the date and the machine. --keep leaves
the runs in FOLDER, and reads those that are there in place of running them again: so cases can be
measured one at a time, and the table is one of all of them. Without --nightly a few cases run, one
pair each.
"""

import argparse
import contextlib
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time

import training

sys.path.insert(0, os.path.join(training.HERE, "planted"))

import harness

FOLDER = os.path.join(training.HERE, "changes")
COLUMNS, HEAD = "{:20} {:>17} {:>13} {}", ("case", "promised", "gain", "not right")
SAYS = "The table is of "  # of a document: the paragraph before its table
PAIRS = 5
OFF_LEAST = 0.01  # of a step: as much as two runs of the same program differ
OFF_ALONE = 0.06  # of one pair, whose spread is not known
GAIN_LEAST = 0.03
FAR = {"latency_us": 10000, "mb_per_s": 200}
FEW = ["use_workers"]
# These ask to look at something: the case shows one remedy, and the saving has no bound.
UNBOUND = {
    "loop_names",
    "growth",
    "unknown_blocked",
    "unknown_names",
    "unmarked_names",
    "own_forward",
    "fewer_threads",
    "long_forward",
    "rare_forward",
    "blocked_model",
    "faster_model",
    "faster_compiled",
    "cheaper_optimizer",
    "loop_batches",
    "own_cores",
    "switches_off",
    "more_threads",
    "quiet_machine",
}


# This advice asks for a name: the function that makes batches. The report of a run with that name
# has to have its time, which the program's own clock has as well.
NAMED = {"idle_calls": "make_batch", "unseen_batches": "make_batch"}

# After these changes nothing is left to do; after others, the same could be done again.
DONE = {
    "use_workers",
    "add_workers",
    "locked",
    "unshared",
    "cheaper_sampler",
    "handover",
    "persistent_workers",
    "one_iterator",
    "warm_start",
    "first_sampler",
    "decompress",
    "decode_once",
    "decode_data",
    "tokenize",
    "not_png",
    "pin_memory",
    "sync_line",
    "keep_memory",
    "async_checkpoint",
    "late_rank",
}

# Advice and what-ifs that no case makes yet. An id leaves the set when its case comes.
UNTRIED = {"line"}  # first_use.py has its edits; a case here has no samples


class Case:
    """`id`: of the advice or the what-if. `row`: of a what-if, its options. `cores`: that all
    processes of the program have."""

    def __init__(self, program, id=None, row=None, number=0, storage=None, ranks=1, cores=0):
        self.program, self.id, self.row, self.number = program, id, row, number
        self.storage, self.ranks, self.cores = storage, ranks, cores


def cases(program, *names, **more):
    return {name: Case(program, name, **more) for name in names}


CASES = {
    **cases("loaders", "use_workers", "add_workers", "blocked", "locked", "received"),
    **cases("loaders", "awaited", "own_threads"),
    "add_workers_epochs": Case("loaders", "add_workers"),
    "add_workers_iterable": Case("loaders", "add_workers"),
    "no_workers_epochs": Case("loaders", "no_workers"),
    **cases("loaders", "handover", "no_workers", "receive", "unshared", "cheaper_sampler"),
    **cases("loaders", "persistent_workers", "one_iterator", "warm_start", "quick_start"),
    **cases("loaders", "first_sampler"),
    **cases("loaders", "first_epoch", "slow_loader"),
    "input_free": Case("loaders", "input_free", row=[]),
    "prefetch": Case("loaders", "prefetch", row=[]),
    "batch_size": Case("loaders", "batch_size", row=[], number=4),
    "workers": Case("loaders", "workers", row=["--workers=1"], number=1),
    **cases("costly", "transform", "decompress", "collate", "decode_once", "decode_smaller"),
    **cases("costly", "not_png", "video_seek", "hdf5_handle", "hdf5_chunks"),
    **cases("costly", "decode_data", "tokenize"),
    "decode_half": Case("costly", "decode_half", row=[]),
    **cases("storage", "page_cache", "larger_reads", "fewer_opens", storage=FAR),
    **cases("storage", "mapped_reads", "own_input", storage=FAR),
    **cases("beside", "own_queue", "own_rare", "own_forward", "async_checkpoint", "load_ahead"),
    **cases("beside", "loop_writes", "loop_fsync", "loop_messages", "loop_blocked", "loop_names"),
    **cases("beside", "loop_waits"),
    **cases("beside", "rare_loop", "other_threads", "growth"),
    **cases("beside", "unknown_blocked", "unknown_names", "unmarked_names"),
    **cases("beside", "less_bookkeeping", "less_evaluation", "less_validation", "compile_once"),
    **cases("beside", "less_generation", "model_data"),
    **cases("beside", "validation_workers"),
    **cases("beside", "long_forward", "rare_forward", "blocked_model"),
    **cases("beside", "faster_model", "faster_compiled", "cheaper_optimizer", "loop_batches"),
    **cases("cards", "pin_memory", "smaller_copies", "sync_line", "fewer_syncs", "keep_memory"),
    **cases("cards", "cuda_graphs", "keep_open_memory", "fewer_bytes"),
    "no_syncs": Case("cards", "no_syncs", row=[]),
    "pinned_copies": Case("cards", "pinned_copies", row=[]),
    **cases("frameworks", "other_loader", "idle_calls", "unseen_batches"),
    **cases("ranked", "late_rank", "overlap_communication", "rare_collectives", ranks=2),
    **cases("cores", "wider_workers", "wider_trainer", "larger_quota", "larger_input_quota"),
    **cases("cores", "more_cores", cores=1),
    **cases("cores", "switches_off", "more_threads"),
    **cases("crowd", "cheaper_batches", "fewer_workers", "fewer_threads", cores=1),
    **cases("crowd", "fewer_bystanders", "own_cores", "quiet_machine", cores=1),
}


def start_of(case):
    """Runs in the child. Other programs lengthen a step at random: they come after ours where the
    machine lets them. A real-time thread would not wait for them either, but the kernel stops one
    that computes for 50 ms of each second, which shows as a step of 50 ms."""
    own = sorted(os.sched_getaffinity(0))

    def start():
        if case.cores:
            os.sched_setaffinity(0, own[-case.cores :])
        os.setsid()
        with contextlib.suppress(OSError):  # the kernel's share of a session counts first
            with open("/proc/self/autogroup", "w") as file:
                file.write("-15")
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, 0, -15)

    return start


def frameworks():
    path = os.path.join(training.ROOT, "build", "venv-frameworks", "bin", "python")
    if not os.path.exists(path):
        raise harness.CannotRun("no build/venv-frameworks: scripts/test --nightly makes it")
    return path


def execute(case, name, state, number, folder):
    """The program's own clock, in ns: {"all_ns", "steady_ns"}."""
    program = os.path.join(FOLDER, case.program + ".py")
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={case.ranks}"]
    python = training.interpreter("h5py", "cv2") if case.program != "frameworks" else frameworks()
    command = [python, *(launcher if case.ranks > 1 else [])]
    command += [program, name, state, *([str(number)] if number else [])]
    env = harness.environment(True, os.path.join(folder, "run.zst"), {})
    if name in NAMED and state == "after":
        env["STAGEPROF_FUNCTIONS"] = "__main__:" + NAMED[name]
    env["FOLDER"] = os.path.join(folder, "far")
    with storage(case, env["FOLDER"]) as env["FOLDER"]:
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, timeout=300,
            preexec_fn=start_of(case),
        )
    if done.returncode:
        raise AssertionError(f"{name} {state}: {done.stderr.decode()[-3000:]}")
    lines = [line for line in done.stdout.decode().splitlines() if line.startswith("{")]
    return training.json.loads(lines[-1])


def storage(case, folder):
    """The folder of the program's files, where they are far away."""
    if not case.storage:
        return contextlib.nullcontext(folder)
    make_files(folder)
    return harness.slow(folder, **case.storage)


def make_files(folder):
    os.makedirs(folder)
    sizes = {"shard": 128 * 16384, "far": 2048 * 16384}
    for index in range(120):
        sizes[str(index)] = 16384
        sizes.update({f"{index}-{part}": 4096 for part in range(4)})
    for name, size in sizes.items():
        with open(os.path.join(folder, name + ".bin"), "wb") as file:
            file.write(bytes(size))


KEPT = []  # the folder of --keep


def folder_of(name, state, pair):
    if not KEPT:
        return tempfile.TemporaryDirectory()
    folder = os.path.join(KEPT[0], name, f"{state}-{pair}")
    os.makedirs(folder, exist_ok=True)
    return contextlib.nullcontext(folder)


def kept_clock(folder):
    path = os.path.join(folder, "clock.json")
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return training.json.load(file)


def keep_clock(folder, clock):
    with open(os.path.join(folder, "clock.json"), "w") as file:
        training.json.dump(clock, file)


def kept_pairs(name):
    """The number of pairs that are kept whole."""
    pair = 0
    while KEPT and all(
        kept_clock(os.path.join(KEPT[0], name, f"{state}-{pair}")) for state in ("before", "after")
    ):
        pair += 1
    return pair


class Run:
    """A run of a case, what it promises and what its clock says."""

    def __init__(self, case, name, state, pair, number=0):
        with folder_of(name, state, pair) as folder:
            self.clock = kept_clock(folder)
            if not self.clock:
                self.clock = execute(case, name, state, number, folder)
                keep_clock(folder, self.clock)
            path = os.path.join(folder, "run.zst")
            if name in NAMED:
                ranges = training.report("ranges", path)["ranges"]
                named = [row["total_ns"] for row in ranges if row["name"].endswith(NAMED[name])]
                self.found = sum(named) / self.clock["made_ns"]
            if case.row is None:
                rows, key = training.report("summary", path)["advice"], "id"
            else:
                rows, key = training.report("whatif", path, *case.row)["what_if"], "what_if"
        self.told = [row[key] for row in rows]
        self.rows = {row[key]: row for row in rows}

    def promised(self, id):
        """The least and the most share that the change saves; None: not promised."""
        row = self.rows.get(id)
        if row is None or ("now_ns" in row and row["now_ns"] is None):
            return None
        names = ("gain_least_share", "gain_most_share")
        if "id" in row:
            names = ("saves_least_share", "saves_most_share")
        return tuple(row[name] for name in names)

    def number(self, id):
        """The number of workers that the advice asks for."""
        text = self.rows.get(id, {}).get("text", "")
        found = re.search(r"num_workers (?:from \d+ )?to (\d+)", text)
        return int(found[1]) if found else 0

    def clock_of(self, id):
        """What-ifs are about steady steps, advice about all of the training time."""
        return "steady_ns" if "now_ns" in self.rows.get(id, {}) else "all_ns"


def measure(name, pairs):
    """The runs before and after, pair by pair; every other pair begins with the run after."""
    case, befores, afters = CASES[name], [], []
    number = case.number
    for pair in range(pairs):
        before = lambda: befores.append(Run(case, name, "before", pair))  # noqa: E731, B023
        after = lambda: afters.append(Run(case, name, "after", pair, number))  # noqa: E731, B023
        for run in (after, before) if pair % 2 else (before, after):
            run()
            number = case.number or befores[0].number(case.id)
    return befores, afters


def share(value):
    return "-" if value is None else f"{100 * value:.1f}%"


class Row:
    """A case, judged."""

    def __init__(self, name, pairs):
        case = CASES[name]
        pairs = max(pairs, kept_pairs(name))
        befores, afters = measure(name, pairs)
        promises = [before.promised(case.id) for before in befores]
        clock = befores[0].clock_of(case.id)
        self.found = [run.found for run in afters] if name in NAMED else []
        gains = [1 - a.clock[clock] / b.clock[clock] for b, a in zip(befores, afters)]
        self.name, self.gain = name, statistics.median(gains)
        self.off = max((max(gains) - min(gains)) / 2, OFF_LEAST if pairs > 1 else OFF_ALONE)
        self.told = befores[0].told
        self.is_given = 2 * promises.count(None) < len(promises)
        left = [case.id in run.told for run in afters]
        self.is_left = name in DONE and 2 * sum(left) > len(left)
        known = [promise for promise in promises if promise and promise[1] is not None]
        self.least = self.most = None
        if known:
            self.least = statistics.median(least or 0 for least, _ in known)
            self.most = statistics.median(most for _, most in known)
        self.complaint = self.judge(case)

    def judge(self, case):
        if not self.is_given:
            return "not given: " + " ".join(self.told)
        if self.found:
            return "" if 0.9 <= statistics.median(self.found) <= 1.1 else "not found"
        if self.gain + self.off < GAIN_LEAST and case.row is None:
            return "no gain"
        if self.most is None:
            return "" if self.name in UNBOUND else "no bound"
        if not self.least - self.off <= self.gain <= self.most + self.off:
            return "outside"
        return "given again" if self.is_left else ""

    def text(self):
        told = "-" if self.most is None else f"{share(self.least)}..{share(self.most)}"
        true = f"{share(self.gain)}±{share(self.off)}"
        if self.found:
            true = f"{share(statistics.median(self.found))}_found"
        return COLUMNS.format(self.name, told, true, self.complaint).rstrip()


def machine():
    with open("/proc/cpuinfo") as file:
        found = re.search(r"^model name\s*:\s*(.*)$", file.read(), re.MULTILINE)
    name = found[1].strip() if found else platform.machine()
    return f"{name}, {len(os.sched_getaffinity(0))} cores"


def write(path, rows, wrong):
    """The table, and the paragraph with its date before it."""
    begin, end = "```changes\n" + COLUMNS.format(*HEAD) + "\n", "\n```"
    with open(path) as file:
        head, mark, tail = file.read().partition(begin)
    assert mark and SAYS in head, f"{path} has no table of changes"
    pairs = f"one pair each, or more where ± is not {share(OFF_ALONE)}"
    right = f"{len(rows) - wrong} of {len(rows)} right"
    says = f"{SAYS}{time.strftime('%Y-%m-%d')}, {machine()}: {right}; {pairs}."
    head = head[: head.rindex(SAYS)] + textwrap.fill(says, 100) + "\n\n"
    with open(path, "w") as file:
        file.write(head + begin + "\n".join(rows) + end + tail.partition(end)[2])


def without_case():
    """The advice and the what-ifs that no case makes, and those of UNTRIED that one does."""
    names = set()
    for table, macro in [("advice", "SP_ADVICE"), ("whatif", "SP_WHAT_IF")]:
        path = os.path.join(training.ROOT, "analyzer", "verdict", table + ".def")
        with open(path) as file:
            found = re.findall(rf"^{macro}\((\w+),", file.read(), re.MULTILINE)
        assert found, path
        names.update(found)
    return sorted((names - {case.id for case in CASES.values()}) ^ UNTRIED)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nightly", action="store_true")
    parser.add_argument("--table")
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--keep")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    if without_case():
        sys.exit(f"CASES and UNTRIED do not fit the tables: {' '.join(without_case())}")
    names = arguments.cases or (list(CASES) if arguments.nightly else FEW)
    pairs = arguments.pairs or (PAIRS if arguments.nightly else 1)
    KEPT.extend([arguments.keep] if arguments.keep else [])
    if names == FEW:
        os.environ["STEPS"] = "30"
    rows = []
    for name in names:
        try:
            rows.append(Row(name, pairs))
        except harness.CannotRun as reason:
            print(f"{name}: not run: {reason}", flush=True)
            continue
        print(rows[-1].text(), flush=True)
    wrong = [row.name for row in rows if row.complaint]
    if arguments.table:
        write(arguments.table, [row.text() for row in rows], len(wrong))
    print(f"{len(rows)} changes, {len(wrong)} wrong: {' '.join(wrong)}")
    sys.exit(1 if 10 * len(wrong) > len(rows) else 0)


if __name__ == "__main__":
    main()
