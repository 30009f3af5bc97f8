# SPDX-License-Identifier: Apache-2.0
"""Programs that are hard to sample: each function that the sampler names is one that the code has,
and the program and the launcher end as without the sampler.

    sampled_targets.py Targets         2 s each
    sampled_targets.py long Targets    a minute each
"""

import glob
import os
import subprocess
import sys
import types

import harness

SECONDS = 60 if "long" in sys.argv else 2
PYTHON = os.path.realpath(sys.executable)
TARGET = """
import os, subprocess, sys, threading, time
SECONDS = float(sys.argv[2])
end = time.monotonic() + SECONDS
def burn(ms):
    until = time.thread_time_ns() + ms * 1000000
    while time.thread_time_ns() < until:
        sum(range(200))
"""
EXECS = TARGET + """
def before_exec():
    burn(20)
def after_exec():
    burn(20)
left = float(os.environ.setdefault("END", str(end)))
(after_exec if "AGAIN" in os.environ else before_exec)()
os.environ["AGAIN"] = "1"
if time.monotonic() < left:
    os.execv(sys.executable, [sys.executable] + sys.argv)
"""
FORKS = TARGET + """
def in_child():
    burn(1)
    os._exit(0)
def in_thread():
    while time.monotonic() < end:
        burn(1)
threading.Thread(target=in_thread).start()
forked = 0
while time.monotonic() < end:
    pid = os.fork()
    if pid == 0:
        in_child()
    os.waitpid(pid, 0)
    forked += 1
"""
SHORT = TARGET + """
def in_parent():
    burn(1)
count = 0
while time.monotonic() < end:
    waited = [os.posix_spawn("/bin/true", ["true"], os.environ) for _ in range(10)]
    for pid in waited:
        os.waitpid(pid, 0)
    count += 10
    in_parent()
print(count // SECONDS, "a second", file=sys.stderr)
"""
# Children of one number: an interpreter and another, and programs that are none.
SAME_NUMBER = TARGET + """
others = sys.argv[3:]
def in_first():
    burn(40)
    os._exit(0)
wanted = os.getpid() + 1000
count = same = 0
while time.monotonic() < end:
    with open("/proc/sys/kernel/ns_last_pid", "w") as file:
        file.write(str(wanted - 1))
    pid = os.fork()
    if pid == 0:
        other = others[count % len(others)]
        if not other:
            in_first()
        code = "def in_second():\\n for i in range(30000): sum((i, i))\\nin_second()"
        os.execv(other, [other, "-c", code])
    os.waitpid(pid, 0)
    same += pid == wanted
    count += 1
assert same > count / 2, (same, count)
"""
GREENLETS = TARGET + """
import greenlet
def deep(n):
    if n:
        return deep(n - 1)
    burn(1)
    return greenlet.getcurrent().parent.switch()
def in_greenlet():
    while True:
        deep(5)
while time.monotonic() < end:
    made = [greenlet.greenlet(in_greenlet) for _ in range(20)]
    for one in made * 2:
        one.switch()
"""
GEVENT = TARGET + """
import gevent
def in_task():
    while time.monotonic() < end:
        burn(1)
        gevent.sleep(0)
gevent.joinall([gevent.spawn(in_task) for _ in range(50)])
"""
INTERPRETERS = TARGET + """
import _xxsubinterpreters as interpreters
code = "def in_inner():\\n for i in range(20000): sum((i, i))\\nin_inner()"
def in_thread():
    while time.monotonic() < end:
        made = interpreters.create()
        interpreters.run_string(made, code)
        interpreters.destroy(made)
threads = [threading.Thread(target=in_thread) for _ in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""
# Random words in the interpreter's own structures, while C code has the GIL and no other thread is.
CORRUPT = TARGET + """
import ctypes
library = ctypes.PyDLL(sys.argv[3])
def below(n):
    return below(n - 1) if n else library.corrupt(state, runtime, int(1000000 * 0.2))
def honest():
    burn(30)
runtime = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
ctypes.pythonapi.PyThreadState_Get.restype = ctypes.c_void_p
state = ctypes.c_void_p(ctypes.pythonapi.PyThreadState_Get())
runtime = ctypes.c_void_p(runtime)
while time.monotonic() < end:
    below(10)
    honest()
"""
CORRUPTS = """
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
/* Pointers that the state holds are followed once: what they point to is damaged, too. */
static int can_write(void *at, size_t bytes)
{
	char copy[4096];
	struct iovec to = {copy, bytes}, from = {at, bytes};
	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)bytes &&
	       process_vm_writev(getpid(), &to, 1, &from, 1, 0) == (ssize_t)bytes;
}
void corrupt(uint64_t *state, uint64_t *runtime, long us)
{
	static uint64_t kept[64][128];
	static uint64_t *places[64];
	struct timespec begin, now, pause = {0, 500000};
	int count = 0;
	places[count++] = state;
	places[count++] = runtime;
	for (int i = 0; i < 40 && count < 64; i++) {
		uint64_t *to = (uint64_t *)(uintptr_t)state[i];
		if ((uintptr_t)to > 4096 && (uintptr_t)to % 8 == 0 && can_write(to, 1024))
			places[count++] = to;
	}
	for (int i = 0; i < count; i++)
		memcpy(kept[i], places[i], 1024);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (int n = 0; n < 8; n++) {
			uint64_t *place = places[rand() % count];
			uint64_t *word = &place[rand() % 64];
			int way = rand() % 4;
			*word = way == 0 ? (uint64_t)rand() << 32 | (uint32_t)rand()
			      : way == 1 ? (uint64_t)(uintptr_t)place
			      : way == 2 ? (uint64_t)(uintptr_t)places[rand() % count]
					 : *word + (uint64_t)(rand() % 64) * 8;
		}
		nanosleep(&pause, NULL);
		if (rand() % 4 == 0)
			for (int i = count; i--;)
				memcpy(places[i], kept[i], 1024);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
	for (int i = count; i--;)
		memcpy(places[i], kept[i], 1024);
}
"""


def functions_of(source, name):
    """(function, first line) of all code in the source, as it is named in the trace or not."""
    found, codes = set(), [compile(source, name, "exec")]
    while codes:
        code = codes.pop()
        found.add((code.co_name, code.co_firstlineno))
        found.add((getattr(code, "co_qualname", code.co_name), code.co_firstlineno))
        codes += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
    return found


class Targets(harness.Case):
    def sampled(self, source, *arguments, python=PYTHON, prefix=(), env=None):
        script = os.path.join(self.folder, "target.py")
        with open(script, "w") as file:
            file.write(source)
        program = os.path.join(harness.environment("STAGEPROF_TEST_PROGRAMS"), "stageprof")
        run = os.path.join(self.folder, "run.zst")
        words = [program, "run", "-q", "--sample=1000", "--output=" + run, "--"]
        words += [python, script, "-", str(SECONDS), *arguments]
        full = harness.traced_environment(self.folder, env)
        del full["LD_PRELOAD"], full["STAGEPROF_OUTPUT"]
        done = subprocess.run(
            [*prefix, *words], env=full, capture_output=True, timeout=100 + 3 * SECONDS
        )
        self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr.decode())
        told = harness.Trace(run).report("functions", "--limit=all")
        print(done.stderr.decode().strip(), told["sampler"])
        self.assertGreater(told["sampler"]["looks"], 0)
        self.check_names(told["functions"])
        return {row["function"] for row in told["functions"]}

    def check_names(self, rows):
        known, wrong = {}, []
        for row in rows:
            name = row["file"]
            if name and os.path.isfile(name) and name not in known:
                with open(name, "rb") as file:
                    known[name] = functions_of(file.read(), name)
            # the line of a module is another in each version of CPython
            found = (row["function"], row["line"])
            if name in known and found[0] != "<module>" and found not in known[name]:
                wrong.append(row)
        self.assertEqual(wrong, [])

    def test_execs(self):
        self.assertLessEqual({"before_exec", "after_exec"}, self.sampled(EXECS))

    def test_forks(self):
        self.assertLessEqual({"in_thread", "in_child"}, self.sampled(FORKS))

    def test_short_processes(self):
        self.assertIn("in_parent", self.sampled(SHORT))

    def test_same_number(self):
        others = ["", "", "/bin/true", *self.other_pythons()]
        unshare = ["unshare", "-pf", "--mount-proc"]
        if subprocess.run([*unshare, "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no namespaces of processes here")
        self.assertIn("in_first", self.sampled(SAME_NUMBER, *others, prefix=unshare))

    @staticmethod
    def other_pythons():
        versions = os.path.expanduser("~/.pyenv/versions/3.{}.*/bin/python3")
        found = [glob.glob(versions.format(minor)) for minor in (9, 13)]
        return [paths[0] for paths in found if paths]

    def test_greenlets(self):
        python = self.python_with("greenlet")
        self.assertIn("deep", self.sampled(GREENLETS, python=python))

    def test_gevent(self):
        python = self.python_with("gevent")
        self.assertIn("in_task", self.sampled(GEVENT, python=python))

    def test_interpreters(self):
        python = self.python_with("_xxsubinterpreters")
        self.assertIn("in_inner", self.sampled(INTERPRETERS, python=python))

    def python_with(self, name):
        for python in (PYTHON, os.environ.get("STAGEPROF_TEST_PYTHON") or PYTHON):
            done = subprocess.run([python, "-c", "import " + name], stderr=subprocess.DEVNULL)
            if done.returncode == 0:
                return python
        self.skipTest("no " + name)

    def test_corrupt_state(self):
        source = os.path.join(self.folder, "corrupts.c")
        with open(source, "w") as file:
            file.write(CORRUPTS)
        library = os.path.join(self.folder, "corrupts.so")
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
        self.assertIn("honest", self.sampled(CORRUPT, library))


if __name__ == "__main__":
    sys.argv = [word for word in sys.argv if word != "long"]
    harness.main()
