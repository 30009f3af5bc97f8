# SPDX-License-Identifier: Apache-2.0
"""Python that ends in every way, or ends and begins again inside of a program: as without us, to
the byte."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import training
from interpreters import interpreters

ADDRESS = re.compile(rb"0x[0-9a-f]+")
SETTINGS = {"STAGEPROF_FUNCTIONS": "colorsys:rgb_to_hsv,colorsys:hsv_to_rgb"}
CALL = "import colorsys\ncolorsys.rgb_to_hsv(1, 0, 0)\n"
ENDINGS = {
    "returns": CALL,
    "exit status": CALL + "raise SystemExit(3)",
    "exception": CALL + "colorsys.rgb_to_hsv('a', 0, 0)",
    "exception in a callback": CALL + "list(map(colorsys.rgb_to_hsv, [1]))",
    "_exit": CALL + "import os; os._exit(4)",
    "abort": CALL + "import os; os.abort()",
    "atexit": CALL
    + "import atexit; atexit.register(colorsys.rgb_to_hsv, 1, 0, 0); atexit.register(colorsys.rgb_to_hsv)",
    "daemon thread": CALL
    + "import threading\n"
    + "def spin():\n    while True: colorsys.rgb_to_hsv(1, 0, 0)\n"
    + "for _ in range(3): threading.Thread(target=spin, daemon=True).start()\n",
    "object in a cycle": CALL
    + "class A:\n    def __del__(self): colorsys.rgb_to_hsv(1, 0, 0)\n"
    + "a = A(); a.a = a; a.f = colorsys.rgb_to_hsv\n",
    "fork": CALL
    + "import os\npid = os.fork()\ncolorsys.hsv_to_rgb(0, 0, 0)\n"
    + "if pid: print(os.waitpid(pid, 0)[1])\n",
    "deep": CALL
    + "def f(n): return colorsys.rgb_to_hsv(n, 0, 0) and f(n + 1)\n"
    + "try: f(0)\nexcept RecursionError: print('too deep')\n",
    "signal": CALL
    + "import os, signal\nsignal.signal(signal.SIGUSR1, lambda *_: colorsys.hsv_to_rgb(0, 0, 0))\n"
    + "for _ in range(9): os.kill(os.getpid(), signal.SIGUSR1)\n",
    "tracing": CALL
    + "import sys\nseen = []\nsys.settrace(lambda frame, *_: seen.append(frame.f_code.co_name))\n"
    + "colorsys.rgb_to_hsv(1, 0, 0)\nsys.settrace(None)\nprint(seen)\n",
    "generators": "import colorsys\n"
    + "def items():\n    for i in range(3): yield colorsys.rgb_to_hsv(i, 0, 0)\n"
    + "g = items(); next(g); g.close()\nprint(list(items()), sum(1 for _ in map(colorsys.hsv_to_rgb, 'aaa', 'bbb', 'ccc') if 0))\n",
}


def same(test, command):
    """Runs it without and with us; returns what it did."""
    results = []
    for traced in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            done = training.execute(command, folder, traced=traced, **(SETTINGS if traced else {}))
            results.append((done.returncode, done.stdout, ADDRESS.sub(b"", done.stderr)))
    test.assertEqual(*results)
    return results[0]


def library(python):
    """Path of its libpython; None where it is static."""
    text = "import sysconfig as s; print(s.get_config_var('LIBDIR'), s.get_config_var('INSTSONAME'), sep='/')"
    path = subprocess.run([python, "-c", text], stdout=subprocess.PIPE).stdout.decode().strip()
    return path if ".so" in path and os.path.exists(path) else None


class Endings(unittest.TestCase):
    def test_each(self):
        for name, text in ENDINGS.items():
            with self.subTest(name):
                same(self, [sys.executable, "-c", text])

    def test_embedded(self):
        compiler, tried = shutil.which("cc"), 0
        for version, python in interpreters().items() if compiler else ():
            shared = library(python)
            if not shared:
                continue
            with self.subTest(version), tempfile.TemporaryDirectory() as folder:
                program = os.path.join(folder, "embedded")
                source = os.path.join(training.HERE, "embedded.c")
                subprocess.run(
                    [
                        compiler,
                        source,
                        "-o",
                        program,
                        shared,
                        "-Wl,-rpath," + os.path.dirname(shared),
                    ],
                    check=True,
                )
                script = os.path.join(training.HERE, "embedded_script.py")
                os.environ["PYTHONHOME"] = (
                    subprocess.run(
                        [python, "-c", "import sys; print(sys.base_prefix)"], stdout=subprocess.PIPE
                    )
                    .stdout.decode()
                    .strip()
                )
                try:
                    status, out, _ = same(self, [program, "3", script])
                    run, _ = training.record([program, "1", script], **SETTINGS)
                finally:
                    del os.environ["PYTHONHOME"]
                self.assertEqual((status, out.count(b"\n")), (0, 9))
                # The main interpreter's two scripts; what is in another one is left alone.
                self.assertEqual(run.count("python_call", "rgb_to_hsv"), 2 * 5)
                tried += 1
        if not tried:
            self.skipTest("no C compiler, or no shared libpython")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
