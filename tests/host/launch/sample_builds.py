# SPDX-License-Identifier: Apache-2.0
"""run --sample on builds of CPython: shared and stripped, linked into a program of another name and
stripped, with several interpreters; and on programs whose Python it cannot read.

STAGEPROF_TEST_PYTHONS: interpreters, separated by colons; without it the one that runs this."""

import json
import math
import os
import shutil
import subprocess

import sample
import scene
from scene import PYTHON, ROOT, clean_environment

SECONDS = "1"
INTERPRETERS = os.path.join(ROOT, "tests/programs/victims/two_interpreters.py")
MAIN = """
int Py_BytesMain(int argc, char **argv);
int main(int argc, char **argv) { return Py_BytesMain(argc, argv); }
"""
OF_BUILD = """
import json, sysconfig
names = ("LIBDIR", "LDLIBRARY", "LIBPL", "LIBRARY", "LIBS", "SYSLIBS", "prefix")
print(json.dumps({name: sysconfig.get_config_var(name) for name in names}))
"""
FOREIGN = """
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
int main(int argc, char **argv)
{
	struct timespec time = {2, 0};
	FILE *file = fopen("/proc/self/status", "r");
	return argc < 2 || !dlopen(argv[1], RTLD_NOW) || fgetc(file) < 0 || nanosleep(&time, &time);
}
"""

# A program with the head of _Py_DebugOffsets and the symbols of CPython 3.13, and nothing else.
DESCRIBED = """
#include <stdio.h>
#include <time.h>
unsigned long long _PyRuntime[128] = {0x7970677562656478, 0x030D00F0, FREE_THREADED};
const unsigned long Py_Version = 0x030D00F0;
char PyCode_Type[8] = {1};
int main(void)
{
	struct timespec time = {1, 0};
	FILE *file = fopen("/proc/self/status", "r");
	return fgetc(file) < 0 || nanosleep(&time, &time);
}
"""

# Both functions are C to the interpreter; "hooked" announces its calls to profilers.
MODULE = """
# cython: language_level=3
cimport cython

def in_c(double until, clock):
    while clock() < until:
        pass

@cython.profile(True)
def hooked(function, argument):
    return function(argument)
"""
USER = """
import json, sys, time
import compiled
true = {"direct": 0, "called_back": 0}
def count(name, begin):
    true[name] += time.thread_time_ns() - begin
def direct(seconds):
    begin = time.thread_time_ns()
    compiled.in_c(time.thread_time() + seconds, time.thread_time)
    count("direct", begin)
def called_back(seconds):
    begin = time.thread_time_ns()
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
    count("called_back", begin)
def call_back(seconds):
    compiled.hooked(called_back, seconds)
for _ in range(50):
    direct(0.03)
    call_back(0.01)
print(json.dumps(true))
"""


def pythons():
    named = os.environ.get("STAGEPROF_TEST_PYTHONS", PYTHON).split(":")
    return list(dict.fromkeys(os.path.realpath(name) for name in named if name))


def build_of(python):
    done = subprocess.run([python, "-c", OF_BUILD], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


class Builds(sample.SampledCase):
    def check_each(self, check):
        tried = 0
        for python in pythons():
            with self.subTest(python):
                tried += check(python) is not None
        if not tried:
            self.skipTest("no interpreter is of this build")

    def check_shared(self, python):
        build = build_of(python)
        library = os.path.join(build["LIBDIR"], build["LDLIBRARY"])
        if ".so" not in library or not os.path.exists(library):
            return None
        shutil.copy(os.path.realpath(library), self.folder)
        name = os.path.join(self.folder, os.path.basename(os.path.realpath(library)))
        subprocess.run(["strip", name], check=True)
        return self.check_shares(python, env=clean_environment(LD_LIBRARY_PATH=self.folder))

    def test_shared_and_stripped(self):
        self.check_each(self.check_shared)

    def check_linked(self, python):
        """The program's name does not say the version."""
        build = build_of(python)
        library = os.path.join(build["LIBPL"], build["LIBRARY"] or "")
        if not library.endswith(".a") or not os.path.exists(library):
            return None
        flags = ["-no-pie", library, "-rdynamic", "-s"]
        flags += f"{build['LIBS']} {build['SYSLIBS']} -lm".split()
        source = os.path.join(self.folder, "main.c")
        with open(source, "w") as file:
            file.write(MAIN)
        app = os.path.join(self.folder, "app")
        done = subprocess.run(["gcc", source, *flags, "-o", app], stderr=subprocess.PIPE)
        if done.returncode != 0:
            self.skipTest(f"does not link: {done.stderr.decode()[-500:]}")
        environment = clean_environment(PYTHONHOME=build["prefix"], LD_LIBRARY_PATH=build["LIBDIR"])
        return self.check_shares(app, env=environment)

    def test_linked_into_a_program(self):
        self.check_each(self.check_linked)

    def check_interpreters(self, python):
        probe = self.call(python, INTERPRETERS, "0.1")
        if probe.returncode == scene.SKIP:
            return None
        run, done = self.sampled(python, INTERPRETERS, SECONDS, rate=500)
        true = json.loads(done.stdout)
        rows = sample.by_name(self.functions(run)["functions"])
        found = sum(rows[name]["own_ns"] for name in true)
        for name, ns in true.items():
            share = ns / sum(true.values())
            off = abs(rows[name]["own_ns"] / found - share)
            samples = sum(rows[row]["samples"] for row in true)
            bound = 0.02 + 6 * math.sqrt(share * (1 - share) / samples)
            self.assertLess(off, bound, (name, share, rows[name]))
        return True

    def test_interpreters(self):
        self.check_each(self.check_interpreters)


class Cython(sample.SampledCase):
    """A compiled function is in no row: its time is its Python caller's."""

    def build(self):
        venv = os.path.join(self.folder, "venv")
        subprocess.run([PYTHON, "-m", "venv", venv], check=True)
        python = os.path.join(venv, "bin/python")
        got = self.call(python, "-m", "pip", "install", "-q", "cython")
        if got.returncode != 0:
            self.skipTest(f"no Cython: {got.stderr[-300:]}")
        source = os.path.join(self.folder, "compiled.pyx")
        with open(source, "w") as file:
            file.write(MODULE)
        subprocess.run([python, "-m", "cython", "-3", source], check=True)
        include = self.call(python, "-c", "import sysconfig as s; print(s.get_path('include'))")
        flags = ["-O1", "-shared", "-fPIC", f"-I{include.stdout.strip()}"]
        module = os.path.join(self.folder, "compiled.so")
        subprocess.run(["gcc", *flags, source.replace("pyx", "c"), "-o", module], check=True)
        with open(os.path.join(self.folder, "user.py"), "w") as file:
            file.write(USER)
        return python

    def test_cython(self):
        run, done = self.sampled(self.build(), os.path.join(self.folder, "user.py"), rate=500)
        true = json.loads(done.stdout)
        report = self.functions(run)
        rows = sample.by_name(report["functions"])
        self.assertNotIn("in_c", rows)
        self.assertNotIn("hooked", rows)
        found = sum(rows[name]["total_ns"] for name in true)
        samples = sum(rows[name]["samples"] for name in true)
        self.assertGreater(samples, 100, report["sampler"])
        for name, ns in true.items():
            share = ns / sum(true.values())
            bound = 0.02 + 6 * math.sqrt(share * (1 - share) / samples)
            self.assertLess(abs(rows[name]["total_ns"] / found - share), bound, rows[name])
        inside = rows["call_back"]["total_ns"] - rows["called_back"]["total_ns"]
        self.assertLess(inside, rows["called_back"]["total_ns"] / 10)
        self.assertGreaterEqual(inside, 0)


class Foreign(sample.SampledCase):
    """Nothing is claimed of them, and they are counted."""

    def check_unknown(self, *command, unknown=1, **options):
        run, _ = self.sampled(*command, **options)
        report = self.functions(run)
        self.assertEqual(report["functions"], [])
        self.assertEqual(report["sampler"]["processes_unknown"], unknown, report["sampler"])

    def test_library_of_pypy(self):
        library = scene.compiled(self.folder, "libpypy3.9-c.so", "int x;", "-shared", "-fPIC")
        program = scene.compiled(self.folder, "embeds", FOREIGN, "-ldl")
        self.check_unknown(program, library)

    def test_pypy(self):
        if not shutil.which("pypy3"):
            self.skipTest("no pypy3")
        self.check_unknown(shutil.which("pypy3"), "-c", "import time; time.sleep(2)")

    def test_free_threaded(self):
        for is_free in (0, 1):
            with self.subTest(is_free):
                flags = ("-rdynamic", f"-DFREE_THREADED={is_free}")
                program = scene.compiled(self.folder, f"described{is_free}", DESCRIBED, *flags)
                self.check_unknown(program, unknown=is_free)

    def test_without_symbols(self):
        """A program of Python's name whose symbols are not there."""
        program = scene.compiled(self.folder, "python3.12", FOREIGN, "-s", "-ldl")
        library = scene.compiled(self.folder, "other.so", "int x;", "-shared", "-fPIC")
        self.check_unknown(program, library)


if __name__ == "__main__":
    scene.main()
