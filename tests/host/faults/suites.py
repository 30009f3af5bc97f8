# SPDX-License-Identifier: Apache-2.0
"""suites.py SUITE MODULE...: other people's own tests, each with and without the preload: every
test has the same verdict. SUITE: cpython, pillow or h5py. STAGEPROF_TEST_PYTHON is the interpreter.

A test whose verdict differs is run three times more each way: one that is not steady without us
says nothing about us, and is named.
"""

import collections
import os
import re
import subprocess
import sys
import tarfile
import tempfile

LIBRARY = os.environ["STAGEPROF_TEST_LIB"]
# Debian's Python is the one whose test suite Debian packages.
PYTHON = {"cpython": "/usr/bin/python3"}
PACKAGES = {"pillow": "pillow", "h5py": "h5py"}
SKIP = 77
NOT_OURS = "not allowed; training goes on"

CPYTHON = re.compile(
    r"^(test\w+) \(([\w.]+)\).*?\.\.\. (?:.*?)(ok|FAIL|ERROR|skipped|expected failure)", re.M | re.S
)
PYTEST = re.compile(r"^(\S+::\S+.*?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)", re.M)


def environment(folder, traced):
    env = {name: value for name, value in os.environ.items() if not name.startswith("STAGEPROF_")}
    env.pop("PYTHONPATH", None)
    env["TMPDIR"] = folder
    if traced:
        env["LD_PRELOAD"] = LIBRARY
        env["STAGEPROF_OUTPUT"] = os.path.join(folder, "run.zst")
    return env


def run(command, pattern, traced, cwd=None):
    """Each test's verdict, and whether there is a trace."""
    with tempfile.TemporaryDirectory(prefix="stageprof-suite-") as folder:
        done = subprocess.run(
            command,
            env=environment(folder, traced),
            cwd=cwd or folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=1200,
        )
        text = done.stdout.decode(errors="replace")
        verdicts = collections.defaultdict(list)
        for match in pattern.finditer(text):
            groups = match.groups()
            verdicts[" ".join(groups[:-1])].append(groups[-1])
        if not verdicts:
            print(text[-3000:])
        # a child that is another user's by then, as test_subprocess has some, may not write to the
        # run
        ours = [line for line in re.findall(r"^stageprof:.*", text, re.M) if NOT_OURS not in line]
        return dict(verdicts), os.path.exists(os.path.join(folder, "run.zst")), ours


def compare(name, command, pattern, cwd=None):
    plain, _, _ = run(command, pattern, False, cwd)
    traced, recorded, ours = run(command, pattern, True, cwd)
    if not plain or not recorded:
        print(f"{name}: {len(plain)} tests without us; trace: {recorded}")
        return False
    differ = {test for test in set(plain) | set(traced) if plain.get(test) != traced.get(test)}
    for _ in range(3 if differ else 0):
        again, _, _ = run(command, pattern, False, cwd)
        under, _, _ = run(command, pattern, True, cwd)
        unsteady = {
            t for t in differ if again.get(t) != plain.get(t) or under.get(t) == plain.get(t)
        }
        for test in unsteady:
            print(f"{name}: unsteady: {test}")
        differ -= unsteady
        if not differ:
            break
    for test in sorted(differ):
        print(f"{name}: {test}: {plain.get(test)} without us, {traced.get(test)} with us")
    if ours:
        print(f"{name}: {ours}")
    counts = collections.Counter(verdict for all in plain.values() for verdict in all)
    print(f"{name}: {dict(counts)}, {len(differ)} differ")
    return not differ and not ours


def cpython(modules):
    python = PYTHON["cpython"]
    good = True
    for module in modules:
        probe = subprocess.run([python, "-c", f"import test.{module}"], stderr=subprocess.DEVNULL)
        if probe.returncode:
            print(f"no test.{module} in {python}: libpython3.11-testsuite is missing")
            sys.exit(SKIP)
        # a virtual machine's socket whose other end is nowhere hangs by itself
        command = [python, "-m", "test", "-v", "--timeout=300", "-i", "*VSOCK*", module]
        good = compare(module, command, CPYTHON) and good
    return good


def sources(package, python):
    """The package's own tests, of the version that is installed."""
    code = f"import importlib.metadata as m; print(m.version('{package}'))"
    found = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if found.returncode:
        print(f"{package} is not installed for {python}")
        sys.exit(SKIP)
    folder = tempfile.mkdtemp(prefix="stageprof-sources-")
    wanted = f"{package}=={found.stdout.decode().strip()}"
    pip = [python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    done = subprocess.run(
        [*pip, "--no-build-isolation", "-d", folder, wanted], stderr=subprocess.PIPE
    )
    archives = [name for name in os.listdir(folder) if name.endswith(".tar.gz")]
    if not archives:
        print(f"no sources of {wanted}: {done.stderr.decode()[-300:]}")
        sys.exit(SKIP)
    with tarfile.open(os.path.join(folder, archives[0])) as tar:
        tar.extractall(folder)
    return os.path.join(folder, archives[0][: -len(".tar.gz")])


def of_package(suite, modules):
    python = os.environ.get("STAGEPROF_TEST_PYTHON") or sys.executable
    if subprocess.run([python, "-c", "import pytest"], stderr=subprocess.DEVNULL).returncode:
        print(f"no pytest for {python}")
        sys.exit(SKIP)
    pytest = [python, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-q", "--no-header"]
    if suite == "h5py":
        # its tests are installed with it
        return compare(suite, [*pytest, "-v", "--pyargs", *modules], PYTEST)
    folder = sources(PACKAGES[suite], python)
    return compare(suite, [*pytest, "-v", *modules], PYTEST, cwd=folder)


if __name__ == "__main__":
    suite, modules = sys.argv[1], sys.argv[2:]
    good = cpython(modules) if suite == "cpython" else of_package(suite, modules)
    sys.exit(not good)
