# SPDX-License-Identifier: Apache-2.0
"""Other tracers on the loops of the bench: what tests/bench/run --peers prints.

strace, ltrace, uftrace, perf and lttng are looked for on the path. Tracers that are preloaded are
named by the environment: BENCH_DARSHAN=/path/libdarshan.so,
BENCH_DFTRACER=/path/libdftracer_preload.so. LTTng needs a wrapper of the calls, lttng_wrap.c, which
is built where liblttng-ust is installed.

"whole process" is from its start until its trace is written, less the same process alone; processor
time is that of the tracer's own processes, too (not of LTTng's daemons). For tracers that are
preloaded there are also rows as the bench takes its own (alternate.h): what a call takes, without
start-up and exit. A tracer that is missing
or fails is named.
"""

import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time

# Calls of a run: enough that start-up and exit of the tracer are little of it.
SLOW_CALLS, FAST_CALLS = 10000, 500000
SLOW_IMAGES, FAST_IMAGES = 5, 60
RUNS = 15
CHUNK_PAIRS = "15"
LTTNG = ["lttng", "--no-sessiond"]


class Peer:
    def __init__(self, name, prefix=(), env=None, slow=False, session=None):
        self.name, self.prefix, self.env = name, list(prefix), env or {}
        self.slow, self.session = slow, session


class Lttng:
    """A session daemon of our own, for the time of one run."""

    def start(self, out):
        self.daemon = subprocess.Popen(
            ["lttng-sessiond"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for _ in range(50):
            if (
                subprocess.run(
                    LTTNG + ["list"],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    check=False,
                ).returncode
                == 0
            ):
                break
            time.sleep(0.1)
        for command in (
            ["create", "bench", f"--output={out}"],
            ["enable-channel", "-u", "--subbuf-size=4M", "--num-subbuf=8", "bench"],
            ["enable-event", "-u", "-c", "bench", "stageprof_bench:call"],
            ["start"],
        ):
            subprocess.run(
                LTTNG + command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True
            )

    def stop(self):
        subprocess.run(
            LTTNG + ["destroy", "bench"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        self.daemon.terminate()
        self.daemon.wait()


def commands(out):
    yield Peer("strace -f -c", ["strace", "-f", "-c", "-o", out], slow=True)
    yield Peer("strace -f -T", ["strace", "-f", "-T", "-ttt", "-o", out], slow=True)
    yield Peer("perf trace", ["perf", "trace", "-o", out], slow=True)
    yield Peer(
        "ltrace",
        ["ltrace", "-f", "-e", "pread+pread64+jpeg_read_scanlines", "-T", "-o", out],
        slow=True,
    )
    yield Peer("uftrace", ["uftrace", "record", "--force", "-d", out])


def preloads(b, out):
    """(peer, why it is not there or None)"""
    yield Peer("stageprof", env={"LD_PRELOAD": b.preload, "STAGEPROF_OUTPUT": out}), None
    wrap = b.program("liblttng_wrap.so")
    missing = (
        None
        if os.path.exists(wrap) and shutil.which("lttng-sessiond")
        else "it wants lttng-tools and a build with liblttng-ust-dev"
    )
    yield Peer("LTTng, a wrapper", env={"LD_PRELOAD": wrap}, session=Lttng()), missing
    darshan, dftracer = os.environ.get("BENCH_DARSHAN"), os.environ.get("BENCH_DFTRACER")
    traced = {
        "LD_PRELOAD": darshan or "",
        "DARSHAN_ENABLE_NONMPI": "1",
        "DARSHAN_LOGPATH": os.path.dirname(out),
    }
    yield Peer("Darshan, counters", env=traced), (
        None if darshan else "BENCH_DARSHAN names no library"
    )
    yield (
        Peer("Darshan, DXT", env=dict(traced, DXT_ENABLE_IO_TRACE="1", DARSHAN_MODMEM="1024")),
        None if darshan else "BENCH_DARSHAN names no library",
    )
    yield (
        Peer(
            "DFTracer",
            env={
                "LD_PRELOAD": dftracer or "",
                "DFTRACER_ENABLE": "1",
                "DFTRACER_INIT": "PRELOAD",
                "DFTRACER_DATA_DIR": "all",
                "DFTRACER_LOG_FILE": out,
                "DFTRACER_INC_METADATA": "1",
            },
        ),
        None if dftracer else "BENCH_DFTRACER names no library",
    )


def remove(out):
    folder, name = os.path.split(out)
    for entry in os.listdir(folder):
        path = os.path.join(folder, entry)
        if entry.startswith(name) or entry.endswith(".darshan"):
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


def children_cpu_ns():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((usage.ru_utime + usage.ru_stime) * 1e9)


def run(b, peer, command, out):
    """The output, and ns of wall and of processor time. The files of the tracer are removed."""
    try:
        if peer.session:
            peer.session.start(out)
        wall, cpu = time.perf_counter_ns(), children_cpu_ns()
        done = subprocess.run(
            peer.prefix + command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=b.folder,
            env=dict(b.environment(False), **peer.env),
            check=True,
            timeout=240,
        )
        return done.stdout, {"wall": time.perf_counter_ns() - wall, "cpu": children_cpu_ns() - cpu}
    finally:
        if peer.session:
            peer.session.stop()
        remove(out)


def loops(b, slow):
    """Name, command and calls of each loop."""
    calls, images = (SLOW_CALLS, SLOW_IMAGES) if slow else (FAST_CALLS, FAST_IMAGES)
    for threads in (1, 4):
        yield (
            f"pread, {threads} thread{'s' * (threads > 1)}",
            [b.program("pread_loop"), b.data, str(calls), str(threads)],
            calls,
        )
    if os.path.exists(b.program("jpeg_loop")):
        yield "JPEG line", [b.program("jpeg_loop"), str(images)], images * 480


def loop_rows(b, peer, out):
    for name, command, calls in loops(b, peer.slow):
        pairs = [
            (run(b, Peer("bare"), command, out)[1], run(b, peer, command, out)[1])
            for _ in range(RUNS)
        ]
        for clock in ("cpu", "wall"):
            b.row(
                f"{peer.name}: {name}, whole process, {clock}",
                "ns a call",
                [(traced[clock] - bare[clock]) / calls for bare, traced in pairs],
                ratio=statistics.median(traced[clock] / bare[clock] for bare, traced in pairs),
            )


def chunk_rows(b, peer, out):
    for name, command in (
        ("pread, 1 thread", [b.program("pread_chunks"), b.data, CHUNK_PAIRS, "1"]),
        ("pread, 4 threads", [b.program("pread_chunks"), b.data, CHUNK_PAIRS, "4"]),
    ):
        done = json.loads(re.search(rb"\{.*\}", run(b, peer, command, out)[0]).group(0))
        pairs = list(zip(done["bare"]["cpu_ns"], done["hooked"]["cpu_ns"]))
        b.row(
            f"{peer.name}: {name}, a call, cpu",
            "ns a call",
            [(t - bare) / done["calls"] for bare, t in pairs],
            ratio=statistics.median(t / bare for bare, t in pairs),
        )


def bench_peers(b):
    out = os.path.join(b.folder, "peer")
    peers = list(preloads(b, out))
    peers += [
        (peer, None if shutil.which(peer.prefix[0]) else "it is not installed")
        for peer in commands(out)
    ]
    for peer, missing in peers:
        if missing:
            print(f"left out: {peer.name}: {missing}", file=sys.stderr)
            continue
        for rows in ([] if peer.prefix else [chunk_rows]) + [loop_rows]:
            try:
                rows(b, peer, out)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                told = re.sub(r"\s+", " ", (error.stderr or b"").decode(errors="replace"))[-200:]
                print(f"left out: {peer.name}, {rows.__name__}: {told or error}", file=sys.stderr)
