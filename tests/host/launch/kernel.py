# SPDX-License-Identifier: Apache-2.0
"""stageprof kernel install: the kernelspec that it writes, what the kernel's command records, and
its errors. tests/host/packaging/launchers.sh runs a notebook under it."""

import json
import os

import scene
from scene import PYTHON, REPORT, STAGEPROF, clean_environment

# Stands for Jupyter's kernel, which gets these words.
IPYKERNEL = """
import sys

assert sys.argv[1:] == ["-f", "a file"], sys.argv
with open(__file__, "rb", buffering=0) as file:
    [file.read(1) for _ in range(9)]
"""


class Kernel(scene.Case):
    def install(self, *options, **variables):
        return self.call(
            STAGEPROF, "kernel", "install", *options, env=clean_environment(**variables)
        )

    def specification(self, *folders):
        path = os.path.join(self.folder, *folders, "stageprof", "kernel.json")
        self.assertEqual(os.listdir(os.path.dirname(path)), ["kernel.json"])
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def test_records(self):
        modules = os.path.join(self.folder, "modules")
        os.mkdir(modules)
        for name in "ipykernel.py", "ipykernel_launcher.py":
            with open(os.path.join(modules, name), "w", encoding="utf-8") as file:
                file.write(IPYKERNEL)
        done = self.install(
            "--prefix=here", f"--python={PYTHON}", "--output=k.zst", PYTHONPATH=modules
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r'\Awrote here/share/.*, the kernel "Python 3 \(stageprof\)"')
        kernel = self.specification("here", "share", "jupyter", "kernels")
        self.assertEqual(kernel["display_name"], "Python 3 (stageprof)")
        self.assertEqual(kernel["language"], "python")
        command = [word.replace("{connection_file}", "a file") for word in kernel["argv"]]
        self.assertIn(f"--output={self.folder}/k.zst", command)
        # Jupyter starts a kernel in the notebook's folder.
        elsewhere = os.path.join(self.folder, "elsewhere")
        os.mkdir(elsewhere)
        done = self.call(*command, env=clean_environment(PYTHONPATH=modules), cwd=elsewhere)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.call(REPORT, "files", "--format=json", "k.zst")
        rows = json.loads(done.stdout)["files"]
        reads = [row["reads"] for row in rows if row["name"].endswith("/ipykernel_launcher.py")]
        self.assertGreaterEqual(sum(reads), 9)

    def test_places(self):
        home, data, jupyter = (os.path.join(self.folder, name) for name in "hdj")
        variables = {"HOME": home}
        for name, value, folders in (
            ("HOME", home, ("h", ".local", "share", "jupyter", "kernels")),
            ("XDG_DATA_HOME", data, ("d", "jupyter", "kernels")),
            ("JUPYTER_DATA_DIR", jupyter, ("j", "kernels")),
        ):
            variables[name] = value
            done = self.install(f"--python={PYTHON}", **variables)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("run", self.specification(*folders)["argv"])

    def test_environment(self):
        environment = os.path.join(self.folder, "environment")
        self.call(PYTHON, "-m", "venv", "--without-pip", environment)
        python = os.path.join(environment, "bin", "python3")
        done = self.install("--sys-prefix", f"--python={python}")
        self.assertEqual(done.returncode, 0, done.stderr)
        # An environment without ipykernel: the kernel is there, and one line says what is missing.
        self.assertRegex(
            done.stderr,
            r"\Astageprof: the kernel does not start yet with \S+: it has no ipykernel; .*\[SP116\]\n\Z",
        )
        kernel = self.specification("environment", "share", "jupyter", "kernels")
        self.assertIn(python, kernel["argv"])

    def test_errors(self):
        for options, status, pattern in (
            (["--python=no-such-python"], 1, r"cannot make a kernel of no-such-.*\[SP114\]"),
            (["--python=cat"], 1, r"cannot make a kernel of cat: it is no Python 3 .*\[SP114\]"),
            (["--prefix=/proc/none", f"--python={PYTHON}"], 1, r"cannot write .*/proc.*\[SP115\]"),
            (["--prefix=" + "x/" * 5000, f"--python={PYTHON}"], 1, r"cannot write .*\[SP115\]"),
        ):
            done = self.install(*options)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertRegex(done.stderr, rf"\Astageprof: {pattern}\n\Z")
        done = self.install("--user", "--prefix=here")
        self.assertEqual(done.returncode, 2)
        self.assertIn("exclude each other", done.stderr)
        for words in [], ["remove"]:
            done = self.call(STAGEPROF, "kernel", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn("stageprof kernel install", done.stderr)


if __name__ == "__main__":
    scene.main()
