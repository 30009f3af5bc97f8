# SPDX-License-Identifier: Apache-2.0
"""The promises that did not hold (broken), and those that could not be decided (undecided)."""

import math
import statistics

# Limits for the calls of a group that both saw, without those whose record lies over an edge of the
# window.
CALLS_WITHIN, CALLS_EDGE = 0.01, 2
# Without these on their side a mode shows nothing.
CALLS_NEEDED = {"graph": ["graph_launches", "copies", "waits"]}
CALLS_NEEDED_ELSE = ["launches", "copies", "waits"]
# The first and the last may begin outside of the window, and then have no time in it either.
STEPS_EDGE = 2
# A stretch on a stream holds the gaps between its works, and the way from the event ahead to the
# first of them, which is taken to be no more than this.
GPU_TIME_WITHIN, GPU_TIME_EDGE_NS = 0.03, 20_000
# Limits against torch.profiler: kernels of the same steps in another run, their time there, and
# its own beside us.
CUPTI_WITHIN = {"calls_ratio": 0.01, "time_ratio": 0.05, "beside_ratio": 0.01}
# Shares of a step: everything that is on by default, and only the events at boundaries of stages.
COSTS_MOST = {"total": 0.01, "events": 0.001}
PAIRS_LEAST = 9


def median_interval(values):
    """The 95% interval of the median, by the sign test. None: too few values."""
    n, missed, rank = len(values), 0.0, None
    for k in range(n // 2):
        missed += 2 * math.comb(n, k) / 2**n
        if missed > 0.05:
            break
        rank = k
    if rank is None:
        return None, None
    return sorted(values)[rank], sorted(values)[n - 1 - rank]


def cost(ratios):
    low, high = median_interval(ratios)
    median = statistics.median(ratios) if ratios else None
    return {"median": median, "low": low, "high": high, "all": ratios}


def costs(rounds):
    """All by the whole time; the events, which each step has alike, by the median of ten steps."""
    wall = lambda one, kind: one[kind]["wall_ns"]
    ten = lambda one, kind: one[kind]["ten_steps_ns"] or one[kind]["wall_ns"]
    return {
        "rounds": len(rounds),
        "total": cost([wall(r, "traced") / wall(r, "plain") - 1 for r in rounds]),
        "events": cost([ten(r, "traced") / ten(r, "without_events") - 1 for r in rounds]),
    }


def brief(text):
    """The last line of what a program said as it failed; all of it stays in the file."""
    return text.strip().splitlines()[-1] if text.strip() else text


class Verdicts:
    def __init__(self):
        self.broken, self.undecided = [], []

    def calls(self, name, compared):
        mode = name.split("/")[-1]
        for group in CALLS_NEEDED.get(mode, CALLS_NEEDED_ELSE):
            if not compared[group]["profiler"]:
                self.broken.append(
                    f"{name}: no {group} in torch.profiler's trace, {compared[group]['stageprof']} here"
                )
        for group, row in compared.items():
            if abs(row["stageprof"] - row["profiler"]) > max(
                CALLS_EDGE, CALLS_WITHIN * row["profiler"]
            ):
                self.broken.append(
                    f"{name}: {row['stageprof']} {group}, torch.profiler has {row['profiler']}"
                    f" ({row['by_work']} of them by their work alone)"
                )

    def steps(self, name, compared):
        seen = compared["steps_seen"]
        if abs(seen["count"] - compared["steps"]) > STEPS_EDGE:
            self.broken.append(
                f"{name}: {seen['count']} steps, and the program made {compared['steps']}"
            )

    def gpu_time(self, name, gpu, steps):
        graphs, ours = gpu["of"] == "graphs", gpu["stageprof_ns"]
        if ours is None:
            self.undecided.append(
                f"{name}: time on the GPU: {gpu['reason'] or 'no stretch has one'}"
            )
            return
        theirs = gpu["profiler"]
        busy, extent = (theirs[f"graph_{n}" if graphs else n] for n in ("busy_ns", "extent_ns"))
        edge = STEPS_EDGE / steps
        least = busy * (1 - GPU_TIME_WITHIN - edge)
        most = extent * (1 + GPU_TIME_WITHIN + edge) + gpu["spans"] * GPU_TIME_EDGE_NS
        if not least <= ours <= most:
            told = (
                f"{name}: {ours} ns on the GPU, where torch.profiler has {least:.0f} to {most:.0f}"
            )
            # Counted over the whole run: the stage around a capture is one.
            if ours < least and gpu["spans_given_up"]:
                self.undecided.append(f"{told}; {gpu['spans_given_up']} stretches were given up")
            else:
                self.broken.append(told)

    def compared(self, name, compared, on_gpu):
        if compared["events_lost"]:
            self.broken.append(f"{name}: {compared['events_lost']} events lost")
        self.steps(name, compared)
        if on_gpu:
            self.calls(name, compared["calls"])
            self.gpu_time(name, compared["gpu_time"], compared["steps"])

    def kernels(self, name, cupti):
        refused = [line for line in cupti["coverage"] if line[0] != "bound"]
        if not cupti["stageprof"]["calls"] and refused:
            self.undecided.append(f"{name}: kernels by CUPTI: {refused}")
            return
        for what, within in CUPTI_WITHIN.items():
            ratio = cupti[what]
            if ratio is None:
                self.broken.append(f"{name}: {what} of kernels: torch.profiler has none")
            elif abs(ratio - 1) > within:
                self.broken.append(f"{name}: {what} of kernels {ratio:.4f}")

    def overhead(self, name, cost):
        for what, most in COSTS_MOST.items():
            of = cost[what]
            if of["low"] is None:
                self.undecided.append(
                    f"{name}: cost ({what}): {cost['rounds']} rounds are too few to tell"
                )
                continue
            said = f"{name}: cost ({what}) {of['median']:.3%}, {of['low']:.3%} to {of['high']:.3%} at 95 %"
            if of["low"] > most:
                self.broken.append(f"{said}: more than {most:.1%}")
            elif of["high"] > most or cost["rounds"] < PAIRS_LEAST:
                self.undecided.append(
                    f"{said}: not told apart from {most:.1%} by {cost['rounds']} rounds"
                )


def judge(results):
    verdicts = Verdicts()
    on_gpu = not results["conditions"]["dry_run"]
    for name, done in results["workloads"].items():
        for part, error in done.get("errors", {}).items():
            verdicts.broken.append(f"{name}: {part}: {brief(error)}")
        for part, why in done.get("not_checked", {}).items():
            verdicts.undecided.append(f"{name}: {part} not checked: {brief(why)}")
        if "compared" in done:
            verdicts.compared(name, done["compared"], on_gpu)
        if "cupti" in done:
            verdicts.kernels(name, done["cupti"])
        if "overhead" in done and on_gpu:
            verdicts.overhead(name, done["overhead"])
    for kind, program in results["built_here"].items():
        if "not_checked" in program:
            verdicts.undecided.append(
                f"program with the {kind} runtime not checked: {brief(program['not_checked'])}"
            )
        elif not program["passed"]:
            verdicts.broken.append(f"program with the {kind} runtime: {program}")
    verdicts.undecided += [f"{what}: not reached" for what in results["not_reached"]]
    return verdicts
