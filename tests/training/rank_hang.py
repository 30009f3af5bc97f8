# SPDX-License-Identifier: Apache-2.0
"""Ranks over gloo that stand still and are killed, all at once, from plain LD_PRELOAD: the report
says which ranks wait in which collective, and which never came to it and what they were in. Ranks
that come late are named with their phase, and a job that is healthy is not accused.

python3 rank_hang.py                the cases of FEW
python3 rank_hang.py --nightly      all
python3 rank_hang.py --table FILE   all, and the table of FILE (docs/tests/HANGS.md)
"""

import contextlib
import glob
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import training

PROGRAM = os.path.join(training.HERE, "rank_hang_program.py")
PYTHON = training.interpreter("torch.distributed")
HANG_S, AFTER_SIGNAL_S = 8, 2
TIMES_LONGEST = 4  # as TIMES_LONGEST of analyzer/hang/hang.c, and one more
AT_ONCE = 8  # jobs, of which each has five processes and more
FEW = ("file", "interrupted", "order")
HEAD = "| planted | answer |\n|---|---|\n"


def missing(planted, rank, part):
    """A hang of this rank alone."""
    others = {0: "1-3", 1: "0, 2, 3", 2: "0, 1, 3", 3: "0-2"}[rank]
    rows = [(str(rank), "missing", "all_reduce"), (others, "waits", "all_reduce")]
    return planted, 1, rows, part


def mixed(planted, rows, part):
    """Ranks that call what does not fit. Each says that it has come there."""
    return planted, 4, rows, part


# case -> what is planted; how often `ready` comes; (ranks, state, operation) of some rows; a part
# of the verdict
HUNG = {
    "loader": missing("a worker of rank 2 opens a pipe that nobody writes", 2, "is inside open"),
    "file": missing("rank 1 opens it itself", 1, "rank 1 is inside open"),
    # As above, and each rank had been in a group of the same name, and calls one collective more,
    # which the backend makes of others.
    "again": missing("the same in the second group of a name", 1, "rank 1 is inside open"),
    # By Ctrl-C, after which the ranks fail one by one.
    "interrupted": missing("the same, ended by Ctrl-C", 1, "rank 1 is inside open"),
    "save": missing("a checkpoint on rank 0 alone blocks", 0, "rank 0 is inside open"),
    "socket": missing("a server does not answer rank 1", 1, "rank 1 is inside recv"),
    "mutex": missing("rank 1 waits for a lock of its own thread", 1, "rank 1 is inside sem_wait"),
    "lock": missing("rank 3 waits for a file's lock that rank 0 holds", 3, "rank 3"),
    "exception": missing("rank 1 raises; its exit waits for a thread", 1, "is inside sem_wait"),
    "stopped": missing("rank 2 gets SIGSTOP", 2, "rank 2"),
    "worker_stopped": missing("a worker of rank 2 gets SIGSTOP", 2, "waits for worker 0"),
    "fork_python": missing(
        "a thread of rank 2 holds Python's lock when the workers are forked",
        2,
        "waits for worker 0; worker 0 is inside sem_wait",
    ),
    "fork_mutex": missing("the same with a library's mutex", 2, "waits for worker 0"),
    "fork_openmp": missing("the same with OpenMP's threads", 2, "waits for worker 0"),
    "operation": mixed(
        "rank 1 calls broadcast",
        [("1", "differs", "broadcast"), ("0, 2, 3", "waits", "all_reduce")],
        "rank 1 called broadcast",
    ),
    "size": mixed(
        "rank 1 hands over two elements", [("1", "differs", "all_reduce")], "rank 1 called"
    ),
    "type": mixed("rank 1 hands over float64", [("1", "differs", "all_reduce")], "1 float64) inst"),
    "left": ("rank 0 has no more data", 1, [("0", "differs", "barrier")], "rank 0 called barrier"),
    "order": mixed(
        "two groups are called in another order",
        [
            ("0", "in_another_group", "all_reduce"),
            ("1", "in_another_group", "all_reduce"),
            ("2, 3", "apart", "all_reduce"),
        ],
        "the groups wait for each other",
    ),
}
# case -> what is planted; the rank that comes late; the phase
LATE = {
    "late_loader": ("the data of rank 2 are slow", 2, "loader_wait"),
    "late_worker": ("one of its two workers is", 2, "loader_wait"),
    "late_forward": ("its forward is", 2, "forward"),
    "late_backward": ("its backward is", 2, "backward"),
    "late_optimizer": ("its optimizer is", 2, "optimizer"),
    "late_save": ("rank 0 saves alone", 0, "checkpoint"),
    "late_validation": ("rank 0 validates alone, without a loader", 0, "evaluation"),
}
HEALTHY = {
    "healthy": "nothing",
    "healthy_loader": "nothing, with workers",
    "healthy_forward": "a long forward on all ranks",
    "healthy_save": "all ranks save",
    "healthy_validation": "all ranks validate",
    "healthy_pause": "all ranks pause for 6 s, and go on",
}


def begin(case, folder):
    return subprocess.Popen(
        [PYTHON, PROGRAM, case, folder],
        cwd=folder,
        env=training.environment(True, os.path.join(folder, "run.zst"), {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def end(program):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()
    program.stdout.close()


def plain(text):
    """Without pids, which differ from run to run."""
    words = text.split()
    return " ".join(
        w for i, w in enumerate(words) if w != "(pid" and (i == 0 or words[i - 1] != "(pid")
    )


def late_of(run):
    """(rank, phase) of those that come late. The ranks were forked in their order."""
    rows = sorted(training.report("ranks", run)["ranks"], key=lambda row: row["pid"])
    return [(k, r["straggles_in"]) for k, r in enumerate(rows) if r["straggler"] == "yes"]


def answer(run):
    """The answer in a line of a table."""
    rows = [r for r in training.report("hang", run)["ranks"] if r["state"] != "waits"]
    if not training.report("summary", run)["hang"]:
        phases = "; ".join(f"rank {rank} comes late, in {phase}" for rank, phase in late_of(run))
        return phases or "nothing"
    if rows[0]["state"] == "in_another_group":
        return "the groups wait for each other"
    inside = plain(rows[0]["inside"]).split(" of ")[0].split(" for ")[0]
    return f"rank {rows[0]['ranks']} {rows[0]['state'].replace('_', ' ')}: {inside}"


def write_table(path, runs):
    planted = {**HUNG, **LATE, **HEALTHY}
    with open(path) as file:
        page = file.read()
    rows = (
        f"| {what if isinstance(what, str) else what[0]} | {answer(runs[case])} |\n"
        for case, what in planted.items()
    )
    with open(path, "w") as file:
        file.write(page[: page.index(HEAD) + len(HEAD)] + "".join(rows))


class RankHang(unittest.TestCase):
    maxDiff = None

    def stand(self, programs):
        """Until each has stood still for longer than a step may take."""
        longest = 0
        for case, program in programs.items():
            for _ in range(HUNG[case][1] if case in HUNG else 1):
                word, *seconds = program.stdout.readline().decode().split() or [""]
                self.assertEqual(word, "ready", case)
                longest = max(longest, *map(float, seconds))
        time.sleep(max(HANG_S, TIMES_LONGEST * longest))
        if "interrupted" in programs:
            os.killpg(programs["interrupted"].pid, signal.SIGINT)
            programs["interrupted"].wait(60)
            time.sleep(AFTER_SIGNAL_S)

    def plant(self, base, cases):
        """Returns the run of each case."""
        folders = {case: os.path.join(base, case) for case in cases}
        for folder in folders.values():
            os.mkdir(folder)
        programs = {case: begin(case, folder) for case, folder in folders.items()}
        try:
            self.stand(programs)
        finally:
            for program in programs.values():
                end(program)
        return {case: os.path.join(folder, "run.zst") for case, folder in folders.items()}

    def test_each(self):
        cases, runs = [*HUNG, *LATE, *HEALTHY] if NIGHTLY else list(FEW), {}
        with tempfile.TemporaryDirectory() as base:
            while len(runs) < len(cases):
                left = cases[len(runs) :]
                # Ranks of several jobs keep each other from the cores, and come late.
                some = [case for case in left[:AT_ONCE] if case in HUNG] or left[:1]
                runs.update(self.plant(base, some))
                for case in some:
                    with self.subTest(case):
                        print(f"{case}: {answer(runs[case])}", flush=True)
                        self.check(case, runs[case])
            if NIGHTLY:
                self.assertEqual(self.ordinal(runs["file"]) + 1, self.ordinal(runs["again"]))
            if TABLE:
                write_table(TABLE, runs)
            self.check_without_culprit(runs["file"])

    def check(self, case, run):
        if case in HUNG:
            self.check_hung(case, run)
        else:
            self.check_moving(case, run)

    def check_hung(self, case, run):
        _, _, rows, part = HUNG[case]
        ranks = training.report("hang", run)["ranks"]
        found = {(r["ranks"], r["state"], r["operation"]): r for r in ranks}
        summary = training.report("summary", run)
        for row in rows:
            self.assertIn(row, found)
            is_typed = row[2] != "barrier" and (case, row[1]) != ("type", "differs")
            self.assertEqual(found[row]["element_type"] == "float32", is_typed)
        self.assertEqual(summary["verdict"]["code"], "hung")
        self.assertIn(part, plain(summary["verdict"]["text"]))

    def check_moving(self, case, run):
        self.assertEqual(late_of(run), [LATE[case][1:]] if case in LATE else [])
        self.assertNotEqual(training.report("summary", run)["verdict"]["code"], "hung")

    def ordinal(self, run):
        rows = training.report("hang", run)["ranks"]
        return next(r["ordinal"] for r in rows if r["state"] == "missing")

    def check_without_culprit(self, run):
        """Where the files of the rank that never came are not in the run, nobody is accused."""
        row = training.report("hang", run)["ranks"]
        pid = next(r["inside"] for r in row if r["state"] == "missing").split("(pid ")[1]
        for path in glob.glob(os.path.join(run, f"*-{pid.split(')')[0]}-*")):
            os.unlink(path)
        rows = training.report("hang", run)["ranks"]
        self.assertEqual([(r["ranks"], r["state"]) for r in rows], [("0, 2, 3", "waits")])
        text = training.report("summary", run)["verdict"]["text"]
        self.assertIn("only 3 of the 4 ranks of group 0 default_pg are in this run", text)
        self.assertNotIn("never came", text)


TABLE = sys.argv[sys.argv.index("--table") + 1] if "--table" in sys.argv else None
NIGHTLY = "--nightly" in sys.argv or TABLE

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
