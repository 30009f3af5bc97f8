"""Other tracers on the loops of the bench: what tests/bench/run --peers prints.

strace, ltrace, uftrace, perf and lttng are looked for on the path. Tracers that are preloaded are named by
the environment: BENCH_DARSHAN=/path/libdarshan.so, BENCH_DFTRACER=/path/libdftracer_preload.so.
LTTng needs a wrapper of the calls, lttng_wrap.c, which is built where liblttng-ust is installed.

Each row is a whole process's wall time, from its start until its trace is written, less that of the same
process alone. What is missing or fails is named.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import time

# Calls of a run: enough that start-up and exit of the tracer are little of it.
SLOW_CALLS, FAST_CALLS = 10000, 500000
SLOW_IMAGES, FAST_IMAGES = 5, 60
RUNS = 3
LTTNG = ["lttng", "--no-sessiond"]


class Peer:
    def __init__(self, name, prefix=(), env=None, slow=False, session=None):
        self.name, self.prefix, self.env = name, list(prefix), env or {}
        self.slow, self.session = slow, session


class Lttng:
    """A session daemon of our own, for the time of one run."""

    def start(self, out):
        self.daemon = subprocess.Popen(["lttng-sessiond"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(50):
            if subprocess.run(LTTNG + ["list"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False).returncode == 0:
                break
            time.sleep(0.1)
        for command in (["create", "bench", f"--output={out}"],
                        ["enable-channel", "-u", "--subbuf-size=4M", "--num-subbuf=8", "bench"],
                        ["enable-event", "-u", "-c", "bench", "stageprof_bench:call"], ["start"]):
            subprocess.run(LTTNG + command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)

    def stop(self):
        subprocess.run(LTTNG + ["destroy", "bench"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        self.daemon.terminate()
        self.daemon.wait()


def commands(out):
    yield Peer("strace -f -c", ["strace", "-f", "-c", "-o", out], slow=True)
    yield Peer("strace -f -T", ["strace", "-f", "-T", "-ttt", "-o", out], slow=True)
    yield Peer("perf trace", ["perf", "trace", "-o", out], slow=True)
    yield Peer("ltrace", ["ltrace", "-f", "-e", "pread+pread64+jpeg_read_scanlines", "-T", "-o", out], slow=True)
    yield Peer("uftrace", ["uftrace", "record", "--force", "-d", out])


def preloads(b, out):
    """(peer, why it is not there or None)"""
    yield Peer("stageprof", env={"LD_PRELOAD": b.preload, "STAGEPROF_OUTPUT": out}), None
    wrap = b.program("liblttng_wrap.so")
    missing = None if os.path.exists(wrap) and shutil.which("lttng-sessiond") else \
        "it wants lttng-tools and a build with liblttng-ust-dev"
    yield Peer("LTTng, a wrapper", env={"LD_PRELOAD": wrap}, session=Lttng()), missing
    darshan, dftracer = os.environ.get("BENCH_DARSHAN"), os.environ.get("BENCH_DFTRACER")
    traced = {"LD_PRELOAD": darshan or "", "DARSHAN_ENABLE_NONMPI": "1", "DARSHAN_LOGPATH": os.path.dirname(out)}
    yield Peer("Darshan, counters", env=traced), None if darshan else "BENCH_DARSHAN names no library"
    yield (Peer("Darshan, DXT", env=dict(traced, DXT_ENABLE_IO_TRACE="1", DARSHAN_MODMEM="1024")),
           None if darshan else "BENCH_DARSHAN names no library")
    yield (Peer("DFTracer", env={"LD_PRELOAD": dftracer or "", "DFTRACER_ENABLE": "1", "DFTRACER_INIT": "PRELOAD",
                                 "DFTRACER_DATA_DIR": "all", "DFTRACER_LOG_FILE": out,
                                 "DFTRACER_INC_METADATA": "1"}),
           None if dftracer else "BENCH_DFTRACER names no library")


def remove(out):
    folder, name = os.path.split(out)
    for entry in os.listdir(folder):
        path = os.path.join(folder, entry)
        if entry.startswith(name) or entry.endswith(".darshan"):
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


def wall_ns(b, peer, command, out):
    """Of the whole process; what the tracer left is removed."""
    try:
        if peer.session:
            peer.session.start(out)
        begin = time.perf_counter_ns()
        subprocess.run(peer.prefix + command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=b.folder,
                       env=dict(b.environment(False), **peer.env), check=True, timeout=240)
        return time.perf_counter_ns() - begin
    finally:
        if peer.session:
            peer.session.stop()
        remove(out)


def loops(b, slow):
    """Name, command and calls of each loop."""
    calls, images = (SLOW_CALLS, SLOW_IMAGES) if slow else (FAST_CALLS, FAST_IMAGES)
    for threads in (1, 4):
        yield (f"pread, {threads} thread{'s' * (threads > 1)}",
               [b.program("pread_loop"), b.data, str(calls), str(threads)], calls)
    if os.path.exists(b.program("jpeg_loop")):
        yield "JPEG line", [b.program("jpeg_loop"), str(images)], images * 480


def loop_rows(b, peer, out):
    for name, command, calls in loops(b, peer.slow):
        pairs = [(wall_ns(b, Peer("bare"), command, out), wall_ns(b, peer, command, out)) for _ in range(RUNS)]
        ratio = statistics.median(traced / bare for bare, traced in pairs)
        b.row(f"{peer.name}: {name}, whole process", "ns a call",
              [(traced - bare) / calls for bare, traced in pairs], ratio=ratio)


def bench_peers(b):
    out = os.path.join(b.folder, "peer")
    peers = list(preloads(b, out))
    peers += [(peer, None if shutil.which(peer.prefix[0]) else "it is not installed") for peer in commands(out)]
    for peer, missing in peers:
        if missing:
            print(f"left out: {peer.name}: {missing}", file=sys.stderr)
            continue
        try:
            loop_rows(b, peer, out)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            told = re.sub(r"\s+", " ", (error.stderr or b"").decode(errors="replace"))[-200:]
            print(f"left out: {peer.name} does not run here: {told or error}", file=sys.stderr)
