# SPDX-License-Identifier: Apache-2.0
"""Python programs that fork, exit, trace and switch in unusual ways."""

import os
import subprocess
import sys

import harness

sys.path.append(os.path.join(harness.ROOT, "tests", "training"))

EVERY_PROCESS = """
import multiprocessing, os
from multiprocessing import forkserver, resource_tracker, shared_memory
def work(number):
    with open("/etc/passwd") as file:
        return len(file.read()) * 0 + os.getpid()
if __name__ == "__main__":
    known = {os.getpid()}
    for method in ("spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with context.Pool(3) as pool:
            known.update(pool.map(work, range(30), chunksize=1))
            known.update(child.pid for child in multiprocessing.active_children())
            pool.close()
            pool.join()
        process = context.Process(target=work, args=(1,))
        process.start()
        known.add(process.pid)
        process.join()
    known.add(resource_tracker._resource_tracker._pid)
    known.add(forkserver._forkserver._forkserver_pid)
    with open("known", "w") as file:
        print(*sorted(known), file=file)
"""

FORK_AT_EXIT = """
import atexit, os
def last():
    if os.fork() == 0:
        for i in range(100):
            with open("/etc/passwd", "rb", 0) as file:
                file.read(10)
        os._exit(0)
    os.wait()
    print("forked")
atexit.register(last)
with open("/etc/passwd") as file:
    print(len(file.read()) > 0)
"""

CLOSERANGE = """
import os, threading
with open("data", "wb") as file:
    file.write(bytes(4096))
data = os.open("data", os.O_RDONLY)
os.dup2(data, 500)
def read():
    for i in range(3000):
        os.pread(500, 100, i)
for round in range(20):
    thread = threading.Thread(target=read)
    thread.start()
    os.closerange(3, 400)
    files = [os.open(f"out-{i}", os.O_CREAT | os.O_APPEND | os.O_WRONLY) for i in range(4)]
    for i, file in enumerate(files):
        os.write(file, b"file %d round %d\\n" % (i, round))
    thread.join()
print("done")
os._exit(0)
"""

EXIT_AMID_THREADS = """
import sys, threading
def read():
    while True:
        with open("/etc/passwd", "rb", 0) as file:
            file.read(100)
for _ in range(4):
    threading.Thread(target=read, daemon=True).start()
import json, decimal
for _ in range(int(sys.argv[1])):
    open("/etc/passwd").close()
print("leaving")
"""

FORK = """
import os, sys
open("/etc/passwd").close()
pid = os.fork()
if pid == 0:
    open("/etc/passwd").close()
    os._exit(0)
os.waitpid(pid, 0)
print("no warning")
"""

PROFILED = """
import collections, json, sys
seen = collections.Counter()
def profile(frame, event, argument):
    if frame.f_code.co_filename == __file__:
        seen[event, frame.f_code.co_name] += 1
def trace(frame, event, argument):
    profile(frame, "trace " + event, argument)
    return trace
def inner(n):
    with open("/etc/passwd") as file:
        file.read()
    return n
def outer():
    return sum(inner(i) for i in range(20))
sys.setprofile(profile)
sys.settrace(trace)
outer()
import colorsys, decimal
json.dumps(outer())
print(sys.getprofile() is profile, sys.gettrace() is trace)
sys.setprofile(None)
sys.settrace(None)
print(sorted(seen.items()))
"""

GREENLETS = """
import greenlet, os, threading
with open("data", "wb") as file:
    file.write(bytes(range(256)) * 16)
def worker(number, fd):
    total = 0
    for i in range(400):
        total += sum(os.pread(fd, 10, (i * 7 + number) % 4000))
        if i % 3 == 0:
            greenlet.getcurrent().parent.switch(total)
    return total
def run(result):
    fd = os.open("data", os.O_RDONLY)
    all = [greenlet.greenlet(worker) for _ in range(30)]
    begun = False
    while any(not one.dead for one in all):
        for number, one in enumerate(all):
            if not one.dead:
                result.append(one.switch(number, fd) if not begun else one.switch())
        begun = True
    os.close(fd)
results = [[] for _ in range(3)]
threads = [threading.Thread(target=run, args=(r,)) for r in results]
[t.start() for t in threads]
[t.join() for t in threads]
print([sum(r) for r in results])
"""

CLEARED = """
import subprocess, sys
code = "open('/etc/passwd').read(); print('untraced')"
for _ in range(2):
    print(subprocess.run([sys.executable, "-I", "-c", code], env={}, stdout=subprocess.PIPE).stdout)
for program in ("true", "sh"):
    print(subprocess.run([program, "-c", ":"], env={"PATH": "/nowhere:/usr/bin:/bin"}).returncode)
"""


class Children(harness.Case):
    def test_every_process(self):
        path = os.path.join(self.folder, "program.py")
        with open(path, "w") as file:
            file.write(EVERY_PROCESS)
        outcome = self.both(sys.executable, path)
        with open(os.path.join(outcome.folder, "cwd", "known")) as file:
            known = {int(word) for word in file.read().split()}
        self.assertGreaterEqual(len(known), 9)
        listed = {process["pid"] for process in outcome.trace.report("processes")["processes"]}
        self.assertLessEqual(known, listed)

    def test_fork_at_exit(self):
        outcome = self.both(sys.executable, "-c", FORK_AT_EXIT)
        self.assertEqual(len(outcome.trace.images()), 2)
        child = max(outcome.trace.images(), key=lambda image: image[1])[0]
        stages, _ = outcome.trace.stages(f"--process={child}")
        self.assertEqual(stages["file_read"]["calls"], 100)

    def test_closerange(self):
        outcome = self.both(sys.executable, "-c", CLOSERANGE)
        for number in range(4):
            with open(os.path.join(outcome.folder, "cwd", f"out-{number}"), "rb") as file:
                expected = b"".join(b"file %d round %d\n" % (number, r) for r in range(20))
                self.assertEqual(file.read(), expected)
        calls, nbytes = harness.reads_by_name(outcome.trace)["data"]
        self.assertEqual((calls, nbytes), (60000, 6000000))

    def test_environment_cleared(self):
        """The report names the programs that were started beyond its reach, except those that would
        neither record nor start others."""
        outcome = self.both(sys.executable, "-c", CLEARED)
        notes = [note["text"].split("\t") for note in outcome.trace.report("summary")["notes"]]
        names = [name for sentence, name in notes if "without LD_PRELOAD" in sentence]
        self.assertEqual(names, [os.path.basename(sys.executable), "sh"])


class Interpreters(harness.Case):
    def each(self, least=8):
        """The interpreters that are here, of the minor version `least` or later."""
        import interpreters

        found = interpreters.interpreters()
        chosen = {v: path for v, path in found.items() if int(v.split(".")[1]) >= least}
        if not chosen:
            self.skipTest(f"no Python 3.{least} or later")
        return chosen.items()

    def test_exit_amid_threads(self):
        """Threads want the GIL while the interpreter ends, and our calls are pending in it."""
        # 3.10 ends by a signal where a thread's call outlasts the interpreter: also without us,
        # where open is slow
        pythons = [(v, path) for v, path in self.each() if not v.startswith("3.10.")]
        for number in range(harness.REPEATS):
            version, path = pythons[number % len(pythons)]
            folder = self.subfolder(str(number))
            argv = [path, "-S", "-c", EXIT_AMID_THREADS, str(number * 7 % 300)]
            outcome = self.execute(argv, folder, timeout=60)
            self.assertEqual(
                (outcome.done.returncode, outcome.done.stdout, outcome.done.stderr),
                (0, b"leaving\n", b""),
                version,
            )

    def test_fork_without_warning(self):
        for version, path in self.each(12):
            with self.subTest(version=version):
                outcome = self.both(path, "-W", "error", "-c", FORK, name=version)
                self.assertEqual(outcome.done.stdout, b"no warning\n")

    def test_profile_hooks(self):
        for version, path in self.each():
            with self.subTest(version=version):
                program = os.path.join(self.folder, f"profiled-{version}.py")
                with open(program, "w") as file:
                    file.write(PROFILED)
                outcome = self.both(path, program, name=version)
                self.assertTrue(outcome.done.stdout.startswith(b"True True\n"))


class Extensions(harness.Case):
    def test_greenlets(self):
        python = os.environ.get("STAGEPROF_TEST_PYTHON") or sys.executable
        probe = subprocess.run([python, "-c", "import greenlet"], stderr=subprocess.DEVNULL)
        if probe.returncode:
            self.skipTest("no Python with greenlet here")
        outcome = self.both(python, "-c", GREENLETS)
        calls, nbytes = harness.reads_by_name(outcome.trace)["data"]
        self.assertEqual((calls, nbytes), (3 * 30 * 400, 3 * 30 * 400 * 10))


if __name__ == "__main__":
    harness.main()
