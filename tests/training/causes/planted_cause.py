# SPDX-License-Identifier: Apache-2.0
"""Reasons why a thread does not run, each with its own timers.

A class is one cause: it is made in the trainer, `begin` runs once in the process that makes the
batches, `once` causes it and returns a Truth. Times of `off_ns` are wall time less processor time,
of the calling thread.
"""

import ctypes
import mmap
import os
import queue
import random
import resource
import socket
import subprocess
import sys
import threading
import time

PAGE = 4096
WAIT_S = 0.012  # of each cause that waits
WORK_S = 0.005  # of processor time, of each that wants a core
SLOW_NS = 10000  # a page that was there takes less


FIELDS = ("wall_ns", "off_ns", "ready_ns", "slow_ns", "slow", "touched", "read_in", "private")


class Truth(dict):
    """The time of a cause, the parts of it off the core and ready to run (as the kernel counts
    them), its touches of pages, the faults that the kernel says read, and the memory that only this
    process has and did not have before."""

    def __init__(self):
        super().__init__(dict.fromkeys(FIELDS, 0))

    def add(self, **fields):
        for name, value in fields.items():
            self[name] += value


def ready():
    """For how long the thread was ready to run without a core, in its life."""
    with open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[1])


def timed(call, *arguments):
    truth, ready_ns = Truth(), ready()
    cpu_ns, begin_ns = time.thread_time_ns(), time.perf_counter_ns()
    call(*arguments)
    wall_ns = time.perf_counter_ns() - begin_ns
    truth.add(wall_ns=wall_ns, off_ns=wall_ns - (time.thread_time_ns() - cpu_ns))
    truth.add(ready_ns=ready() - ready_ns)
    return truth


def majors():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_majflt


def compute(seconds=WORK_S):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def forget_pages(path):
    """The file's pages leave the cache."""
    fd = os.open(path, os.O_RDWR)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


class Waiting:
    """A cause whose helper is another thread of the same process."""

    def begin(self, path):
        self.go = threading.Semaphore(0)
        self.ready = threading.Semaphore(0)
        self.prepare()
        threading.Thread(target=self.help, daemon=True).start()

    def prepare(self):
        pass


class Sleep:
    def begin(self, path):
        pass

    def once(self, i):
        return timed(time.sleep, WAIT_S)


class Signal:
    """A wait that no hook sees."""

    def begin(self, path):
        pass

    def once(self, i):
        import signal

        return timed(signal.sigtimedwait, [signal.SIGUSR1], WAIT_S)


class Lock(Waiting):
    """threading.Lock, held by another thread."""

    def prepare(self):
        self.lock = threading.Lock()
        self.acquire, self.release = self.lock.acquire, self.lock.release

    def help(self):
        while True:
            self.go.acquire()
            self.acquire()
            self.ready.release()
            time.sleep(WAIT_S)
            self.release()

    def once(self, i):
        self.go.release()
        self.ready.acquire()
        truth = timed(self.acquire)
        self.release()
        return truth


class Mutex(Lock):
    """pthread_mutex_t of a library."""

    def prepare(self):
        libc = ctypes.CDLL(None)
        self.mutex = ctypes.create_string_buffer(64)
        self.acquire = lambda: libc.pthread_mutex_lock(self.mutex)
        self.release = lambda: libc.pthread_mutex_unlock(self.mutex)


class Queue(Waiting):
    def prepare(self):
        self.queue = queue.Queue()

    def help(self):
        while True:
            self.go.acquire()
            time.sleep(WAIT_S)
            self.queue.put(1)

    def once(self, i):
        self.go.release()
        return timed(self.queue.get)


class Interpreter(Waiting):
    """Another thread of Python computes: the interpreter's lock."""

    def help(self):
        while True:
            compute(0.1)

    def once(self, i):
        return timed(compute, 0.004)


class Pipe(Waiting):
    def prepare(self):
        self.ends = os.pipe()

    def help(self):
        while True:
            self.go.acquire()
            time.sleep(WAIT_S)
            self.give()

    def give(self):
        os.write(self.ends[1], b"x" * 100)

    def take(self):
        os.read(self.ends[0], 100)

    def once(self, i):
        self.go.release()
        return timed(self.take)


class Network(Pipe):
    def prepare(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.near = socket.create_connection(server.getsockname())
        self.far = server.accept()[0]

    def give(self):
        self.far.sendall(b"x" * 100)

    def take(self):
        self.near.recv(100)


class LocalSocket(Network):
    def prepare(self):
        self.near, self.far = socket.socketpair()


class Pages:
    """Reads a mapped file; `slow` are the touches that waited for their page."""

    stride, each, advice = 16 * PAGE, 8, mmap.MADV_RANDOM

    def begin(self, path):
        with open(path, "rb") as file:
            self.map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        self.map.madvise(self.advice)
        self.places = self.order(range(0, len(self.map), self.stride))
        self.next = 0

    def order(self, places):
        return random.Random(1).sample(places, len(places))

    def once(self, i):
        slow, faults = [], majors()
        truth = timed(self.touch, slow)
        truth.add(slow_ns=sum(slow), slow=len(slow), touched=self.each)
        truth.add(read_in=majors() - faults)
        return truth

    def touch(self, slow):
        for _ in range(self.each):
            at = self.places[self.next % len(self.places)]
            self.next += 1
            begin_ns = time.perf_counter_ns()
            self.map[at]
            ns = time.perf_counter_ns() - begin_ns
            if ns >= SLOW_NS:
                slow.append(ns)


class PagesInOrder(Pages):
    stride, each, advice = PAGE, 160, mmap.MADV_NORMAL

    def order(self, places):
        return places


class PageAndWait(Pages):
    """One page that is read, and a long wait for something else. `off_ns` is the wait's."""

    each = 1

    def once(self, i):
        page, wait = super().once(i), Signal().once(i)
        wait.add(slow_ns=page["slow_ns"], slow=page["slow"], read_in=page["read_in"])
        return wait


class Core:
    """A core is shared with a program that computes, or with another worker, by a mask."""

    def __init__(self, core=0, beside=False):
        self.core, self.beside = core, beside

    def begin(self, path):
        os.sched_setaffinity(0, {self.core})
        if self.beside:
            spin = "import os\nwhile os.getppid() == %d: pass" % os.getpid()
            subprocess.Popen([sys.executable, "-S", "-c", spin])

    def once(self, i):
        return timed(compute)


def private_bytes():
    with open("/proc/self/smaps_rollup") as file:
        lines = [line.split() for line in file if line.startswith("Private_Dirty")]
    return int(lines[0][1]) * 1024


class Memory:
    """Memory of the process that makes the batches; `use` takes a part of it."""

    PARTS, NAP_S = 240, 0.02

    def begin(self, path):
        self.before = private_bytes()

    def once(self, i):
        self.use(i)
        truth = timed(time.sleep, self.NAP_S)
        now = private_bytes()
        truth.add(private=now - self.before)
        self.before = now
        return truth


class Copied(Memory):
    """To read an object of the parent writes its count of references."""

    def __init__(self):
        self.list = [str(i) * 2 for i in range(1200000)]

    def use(self, i):
        part = len(self.list) // self.PARTS
        sum(len(text) for text in self.list[i * part : (i + 1) * part])


class Leaked(Memory):
    def __init__(self):
        self.list = []

    def use(self, i):
        self.list.append(bytearray(b"x" * 400000))


class Shared(Memory):
    """An array of the parent that all read."""

    def __init__(self):
        self.array = bytearray(b"x" * 100000000)

    def use(self, i):
        part = len(self.array) // self.PARTS
        sum(memoryview(self.array)[i * part : (i + 1) * part : 64])


class Compute:
    """Nothing is planted: other programs, a quota or nothing make it wait."""

    def begin(self, path):
        pass

    def once(self, i):
        return timed(compute)


CAUSES = {
    "sleep": Sleep,
    "signal": Signal,
    "lock": Lock,
    "mutex": Mutex,
    "queue": Queue,
    "interpreter": Interpreter,
    "pipe": Pipe,
    "network": Network,
    "local_socket": LocalSocket,
    "pages": Pages,
    "pages_in_order": PagesInOrder,
    "page_and_wait": PageAndWait,
    "core": Core,
    "core_beside": lambda: Core(beside=True),
    "copied": Copied,
    "leaked": Leaked,
    "shared": Shared,
    "compute": Compute,
}
