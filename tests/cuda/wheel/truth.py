# SPDX-License-Identifier: Apache-2.0
"""The truth of a run: files that the bed (device.h, count.h) and the training (notes.py) left at
$SIM_TRUTH.PID."""

import collections
import glob

Phase = collections.namedtuple("Phase", "begin end name")
Work = collections.namedtuple("Work", "kind stream begin end bytes put name")


def union_ns(work):
    """In which any of it was under way."""
    sum_ns, at = 0, 0
    for piece in sorted(work, key=lambda piece: piece.begin):
        sum_ns += max(0, piece.end - max(piece.begin, at))
        at = max(at, piece.end)
    return sum_ns


class Process:
    def __init__(self):
        self.calls, self.work, self.phases = collections.Counter(), [], []
        self.memory = []  # (at the step's end, at most since the one before) by step

    def take(self, fields):
        if fields[0] == "call":
            self.calls[fields[1]] += int(fields[2])
        elif fields[0] == "phase":
            self.phases.append(Phase(int(fields[2]), int(fields[3]), fields[1]))
        elif fields[0] == "memory":
            self.memory.append((int(fields[1]), int(fields[2])))
        else:
            self.work.append(Work(fields[1], *map(int, fields[2:7]), " ".join(fields[7:])))

    def part_at(self, ns):
        """The training's phase at a call: outside all phases it is forward where the next backward
        is of the same step, and no batch is fetched before that."""
        if not self.phases or ns < self.phases[0].begin:
            return "other"
        now = [phase.name for phase in self.phases if phase.begin <= ns <= phase.end]
        if now:
            return now[0] if now[0] in ("backward", "optimizer") else "other"
        later = (phase.name for phase in self.phases if phase.begin > ns)
        ends = next((name for name in later if name in ("backward", "optimizer", "loader")), None)
        return "forward" if ends == "backward" else "other"

    def gpu_ns(self):
        """The device's time by the phase of the call that gave it the work."""
        parts = collections.Counter()
        for work in self.work:
            parts[self.part_at(work.put)] += work.end - work.begin
        return parts


class Truth:
    """All processes of a run."""

    def __init__(self, prefix):
        self.processes = collections.defaultdict(Process)
        for path in glob.glob(prefix + ".*"):
            pid = int(path[len(prefix) + 1 :].split(".")[0])
            with open(path) as file:
                for line in file:
                    self.processes[pid].take(line.split())
            self.processes[pid].phases.sort()

    @property
    def calls(self):
        return sum((process.calls for process in self.processes.values()), collections.Counter())

    @property
    def work(self):
        return [work for process in self.processes.values() for work in process.work]

    def count(self, names):
        calls = self.calls
        return sum(calls[name] for name in names.split())

    def copies(self):
        """(direction, host's memory) to the number of copies from or to the host."""
        copies = (work for work in self.work if work.kind in ("h2d", "d2h"))
        return collections.Counter((work.kind, work.name) for work in copies)

    def gpu_ns(self):
        parts = (process.gpu_ns() for process in self.processes.values())
        return sum(parts, collections.Counter())

    def busy_ns(self):
        return sum(work.end - work.begin for work in self.work)

    def union_ns(self):
        return sum(union_ns(process.work) for process in self.processes.values())
