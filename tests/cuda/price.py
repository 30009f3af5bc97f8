# SPDX-License-Identifier: Apache-2.0
"""The added price of a launch with the hook: instructions (the gate) and, in turn with launches
without it, time.

Instructions are callgrind's, of the launches alone: the difference of two runs of different length.
Those that pack the events into blocks are left out: how well times pack depends on the times, and
tests/bench/run has packing as a row of its own, on made times. Time (of the
processor) depends on the machine, and for the life of a process on where its pages lie in the
caches: it is that of several processes, is printed, and is no gate.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

# By how the launch is made (launch_price.c): most instructions that it may cost more.
INSTRUCTIONS_MAX = {"runtime": 140, "driver": 140, "nested": 150, "send": 140}
# A collective of NCCL has a record of its own, before the call.
RECORD_NS_MAX = 60
PACKING = ["--toggle-collect=sp_pack_encode", "--toggle-collect=sp_pack_compress"]
NS_MAX = 40
PROCESSES = 15
PAIRS = 4


def environment(folder, traced):
    env = {name: value for name, value in os.environ.items() if not name.startswith("STAGEPROF_")}
    env["LD_LIBRARY_PATH"] = os.path.join(os.environ["STAGEPROF_TEST_VICTIMS"], "null")
    if traced:
        env["LD_PRELOAD"] = os.environ["STAGEPROF_TEST_LIB"]
        env["STAGEPROF_OUTPUT"] = os.path.join(folder, "run.zst")
    return env


def instructions(program, how, folder, calls, traced):
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"]
    tool += ["--collect-atstart=yes", *PACKING]
    done = subprocess.run(
        tool + [program, str(calls), how],
        env=environment(folder, traced),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=True,
    )
    return int(re.search(r"Collected : (\d+)", done.stderr.decode()).group(1))


def instructions_a_call(program, how, folder, traced):
    few, many = 20000, 100000
    difference = instructions(program, how, folder, many, traced)
    difference -= instructions(program, how, folder, few, traced)
    return difference / (many - few)


def ns_a_call(program, how, folder):
    """The median of the pairs: hooked launches in turn with others, in one process."""
    done = subprocess.run(
        [program, str(PAIRS), how, "alternate"],
        env=environment(folder, True),
        stdout=subprocess.PIPE,
        check=True,
    )
    shutil.rmtree(os.path.join(folder, "run.zst"), ignore_errors=True)
    told = json.loads(done.stdout)
    pairs = zip(told["hooked"]["cpu_ns"], told["bare"]["cpu_ns"])
    return statistics.median((hooked - bare) / told["calls"] for hooked, bare in pairs)


def price(program, how, folder):
    """Prints it; returns 0 where the gate holds."""
    added = instructions_a_call(program, how, folder, True) - instructions_a_call(
        program, how, folder, False
    )
    every = sorted(ns_a_call(program, how, folder) for _ in range(PROCESSES))
    ns = statistics.median(every)
    print(
        f"added to a launch ({how}): {added:.0f} instructions, {ns:.1f} ns ({every[0]:.1f} to {every[-1]:.1f})"
    )
    if ns > NS_MAX:
        print(f"that is more than the {NS_MAX} ns aimed at")
    if added > INSTRUCTIONS_MAX[how]:
        print(f"more than {INSTRUCTIONS_MAX[how]} instructions")
    return 0 if 0 < added <= INSTRUCTIONS_MAX[how] else 1


def record_price(program, folder):
    """Prints what the record of a collective costs: a collective in turn with a send, which has
    none. Time, so no gate."""
    every = sorted(
        ns_a_call(program, "collective", folder) - ns_a_call(program, "send", folder)
        for _ in range(PROCESSES)
    )
    ns = statistics.median(every)
    print(f"a collective's record: {ns:.1f} ns ({every[0]:.1f} to {every[-1]:.1f})")
    if ns > RECORD_NS_MAX:
        print(f"that is more than the {RECORD_NS_MAX} ns aimed at")


def main():
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return 77
    program = os.path.join(os.environ["STAGEPROF_TEST_VICTIMS"], "launch_price")
    with tempfile.TemporaryDirectory(prefix="stageprof-price-") as folder:
        failed = max([price(program, how, folder) for how in INSTRUCTIONS_MAX])
        record_price(program, folder)
        return failed


if __name__ == "__main__":
    sys.exit(main())
