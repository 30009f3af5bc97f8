# SPDX-License-Identifier: Apache-2.0
"""A training under tools that hook Python, as stageprof does: the tool says what it says without
us, and each step and each read is counted as without the tool.

STAGEPROF_TEST_PYTHON: an interpreter that imports torch.
"""

import json
import os
import re
import shutil
import subprocess
import sys

import harness

sys.path.append(os.path.join(harness.ROOT, "tests", "training"))

PYTHON = os.environ.get("STAGEPROF_TEST_PYTHON", "")
STEPS, BATCH = 12, 4
TRAINER = f"""
import os, sys, threading
import torch
from torch.utils.data import DataLoader, Dataset

class Files(Dataset):
    def __len__(self):
        return {STEPS * BATCH}
    def __getitem__(self, i):
        with open(f"{{FOLDER}}/data-{{i}}", "rb", buffering=0) as file:
            return torch.tensor(list(file.read(8)), dtype=torch.float32)

def reads_and_forks():
    for i in range(10):
        with open(f"{{FOLDER}}/other-{{i}}", "rb", buffering=0) as file:
            file.read(8)
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)

def train(workers):
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in DataLoader(Files(), {BATCH}, num_workers=workers):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()

FOLDER = os.environ["FOLDER"]
def main():
    thread = threading.Thread(target=reads_and_forks)
    thread.start()
    thread.join()
    train(0)
    train(2)
"""
MONITORED = """
import sys
seen = {}
def called(code, offset):
    if code.co_filename == __file__:
        seen[code.co_name] = seen.get(code.co_name, 0) + 1
m = sys.monitoring
m.use_tool_id(m.PROFILER_ID, "test")
m.register_callback(m.PROFILER_ID, m.events.PY_START, called)
m.set_events(m.PROFILER_ID, m.events.PY_START)
def read(name):
    with open(name, "rb", buffering=0) as file:
        return file.read(8)
for _ in range(50):
    read("/etc/passwd")
print(seen, m.get_tool(m.PROFILER_ID))
"""


class Tools(harness.Case):
    def setUp(self):
        super().setUp()
        self.has("torch")

    def trained(self, name, traced, *words, end="main()\n", file="train.py", **more):
        """The folder after a run of the trainer by these words; its path stands for TRAINER."""
        folder = self.subfolder(name + ("-traced" if traced else "-plain"))
        for i in range(STEPS * BATCH):
            for kind in ("data", "other"):
                with open(os.path.join(folder, f"{kind}-{i}"), "wb") as data:
                    data.write(bytes(range(8)))
        with open(os.path.join(folder, file), "w") as script:
            script.write(TRAINER + end)
        env = harness.traced_environment(folder, {"FOLDER": folder, "OMP_NUM_THREADS": "1", **more})
        if not traced:
            del env["LD_PRELOAD"], env["STAGEPROF_OUTPUT"]
        done = subprocess.run(
            words, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=200
        )
        self.assertEqual(done.returncode, 0, done.stderr.decode()[-2000:])
        return folder, done.stdout

    def check_counts(self, folder):
        trace = harness.Trace(os.path.join(folder, "run.zst"))
        reads = harness.reads_by_name(trace)
        wrong = {
            name: reads.get(name)
            for name, wanted in (
                [(f"data-{i}", 2) for i in range(STEPS * BATCH)]
                + [(f"other-{i}", 1) for i in range(10)]
            )
            if reads.get(name, (0, 0))[0] != wanted
        }
        self.assertEqual(wrong, {})
        self.assertEqual(trace.report("summary")["steps"]["count"], 2 * STEPS)

    def check(self, name, result, *words, **more):
        traced = self.trained(name, True, *words, **more)
        self.check_counts(traced[0])
        if result:
            self.assertEqual(result(*self.trained(name, False, *words, **more)), result(*traced))

    def test_alone(self):
        self.check("alone", None, PYTHON, "train.py")

    def has(self, module):
        code = f"import importlib.util as u; assert u.find_spec({module!r})"
        done = subprocess.run([PYTHON or "false", "-c", code], stderr=subprocess.DEVNULL)
        if done.returncode:
            self.skipTest("no " + module)

    def test_coverage(self):
        self.has("coverage")

        def lines(folder, _):
            words = [PYTHON, "-m", "coverage", "json", "-o", "-", "--include=*/train.py"]
            text = subprocess.run(words, cwd=folder, capture_output=True, check=True).stdout
            return json.loads(text[: text.rindex(b"}") + 1])["files"]["train.py"]["executed_lines"]

        self.check("coverage", lines, PYTHON, "-m", "coverage", "run", "train.py")

    def test_cprofile(self):
        def calls(_, out):
            return sorted(re.findall(rb"(\S+) .* train\.py:(\d+\(\w+\))", out))

        self.check("cprofile", calls, PYTHON, "-m", "cProfile", "train.py")

    def test_trace(self):
        def counts(folder, _):
            with open(os.path.join(folder, "counts", "train.cover")) as file:
                return re.findall(r"^ *(\d+):", file.read(), re.M)

        words = ("-m", "trace", "--count", "-C", "counts", "--ignore-dir=/usr:/root", "train.py")
        self.check("trace", counts, PYTHON, *words)

    def test_debugpy(self):
        self.has("debugpy")
        self.check("debugpy", None, PYTHON, "-m", "debugpy", "--listen", "0", "train.py")

    def test_xdist(self):
        self.has("xdist")
        tests = "def test_one():\n    main()\n"

        def passed(_, out):
            return re.findall(rb"\d+ passed", out)

        words = (PYTHON, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", "test_train.py")
        self.check("xdist", passed, *words, end=tests, file="test_train.py")

    def test_uv(self):
        if not shutil.which("uv"):
            self.skipTest("no uv")
        words = ("uv", "run", "--no-project", "--offline", "--python", PYTHON, "train.py")
        self.check("uv", None, *words, UV_CACHE_DIR=self.subfolder("uv-cache"))


class Monitoring(harness.Case):
    def test_counts(self):
        import interpreters

        found = interpreters.interpreters().items()
        for version, python in [one for one in found if int(one[0].split(".")[1]) >= 12]:
            with self.subTest(version):
                script = os.path.join(self.folder, "monitored.py")
                with open(script, "w") as file:
                    file.write(MONITORED)
                outcome = self.both(python, script, name=version)
                reads = harness.reads_by_name(outcome.trace)
                self.assertEqual(reads["passwd"][0], 50)
                self.assertIn(b"{'read': 50}", outcome.done.stdout)


if __name__ == "__main__":
    harness.main()
