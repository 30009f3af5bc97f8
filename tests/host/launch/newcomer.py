# SPDX-License-Identifier: Apache-2.0
"""The path of somebody new: what each command prints at its end, pasted, works.

With --whole: from a fresh clone through scripts/demo, a page in a real browser, exports and a
comparison. Else the same path on a small run, with what is built.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import scene
from scene import BIN, PYTHON, REPORT, ROOT, STAGEPROF, clean_environment

WHOLE = "--whole" in sys.argv
TRAINER = """
import os
for i in range(50):
    with open('data.bin', 'rb', buffering=0) as f:
        while f.read(4096): pass
"""


def exporters():
    path = os.path.join(ROOT, "analyzer", "exporters", "exporters.def")
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return re.findall(r"^SP_EXPORTER\((\w+)", file.read(), re.M)


def offered(text):
    """Lines that are commands of ours, as they stand indented below a sentence."""
    return [
        line.strip() for line in text.splitlines() if re.match(r"    \S*stageprof(-report)? ", line)
    ]


class Path(scene.Case):
    def paste(self, line, status=0, timeout=120):
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            timeout=timeout,
        )
        self.assertEqual(done.returncode, status, f"{line}: {done.stderr}")
        return done

    def follow(self, done, seen):
        """Pastes what was offered, and what that offers, until nothing new is."""
        lines = [line for line in offered(done.stdout + done.stderr) if line not in seen]
        for line in lines:
            if "train.py" in line or "COMMAND" in line or "stageprof again" in line:
                continue  # a place for the reader's own; another run
            seen.add(line)
            self.follow(self.paste(line), seen)
        return seen

    def look_at(self, page):
        browser = shutil.which("chromium")
        with open(page) as file:
            self.assertIn("Content-Security-Policy", file.read(4096))
        if not browser:
            print("no chromium: the page was not looked at in a browser")
            return
        done = subprocess.run(
            [
                browser,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--virtual-time-budget=3000",
                f"--user-data-dir={self.folder}/chromium",
                "--dump-dom",
                "file://" + page,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=110,
        )
        text = done.stdout.decode()
        self.assertIn("</html>", text)
        self.assertIn("<table", text)

    def export_all(self, run):
        for name in set(exporters()) - {"pprof"}:  # no samples
            out = os.path.join(self.folder, "exported." + name)
            seen = self.follow(self.paste(f"{REPORT} export {name} -o {out} {run}"), set())
            self.assertGreater(os.path.getsize(out), 0, seen)

    def compare(self, first, second):
        told = self.paste(f"{REPORT} compare --format=json {first} {second}").stdout
        self.assertEqual(len(json.loads(told)["runs"]), 2)
        self.assertIn(
            os.path.basename(second), self.paste(f"{REPORT} compare {first} {second}").stdout
        )


@unittest.skipIf(WHOLE, "the whole path was asked for")
class Small(Path):
    def test_path(self):
        self.env = clean_environment(PATH=BIN + ":" + os.environ["PATH"])
        with open(os.path.join(self.folder, "data.bin"), "wb") as file:
            file.write(b"x" * 100000)
        with open(os.path.join(self.folder, "t.py"), "w") as file:
            file.write(TRAINER)
        for run in ("run.zst", "run-2.zst"):
            done = self.paste(f"stageprof run -- {PYTHON} t.py")
            page = run.replace(".zst", ".html")
            self.assertEqual(
                self.follow(done, set()),
                {f"stageprof-report {run}", f"stageprof-report html --symbols -o {page} {run}"},
            )
        self.paste("stageprof-report html -o report.html run.zst")
        self.assertIn("report.html", os.listdir(self.folder))
        self.paste("stageprof-report html -o report.html run.zst", status=1)
        self.export_all("run.zst")
        self.compare("run.zst", "run-2.zst")
        doctor = self.paste(f"stageprof doctor -- {PYTHON} t.py")
        self.assertEqual(
            self.follow(self.paste(offered(doctor.stderr)[0]), set()),
            {
                "stageprof-report run-3.zst",
                "stageprof-report html --symbols -o run-3.html run-3.zst",
            },
        )


@unittest.skipUnless(WHOLE, "--whole goes from a fresh clone")
class Whole(Path):
    def test_path(self):
        python = os.path.join(ROOT, "build", "venv", "bin", "python")
        photos = os.path.join(ROOT, "build", "photos")
        if not os.path.exists(python) or not os.path.isdir(os.path.join(photos, "set")):
            raise unittest.SkipTest("no build/venv or photographs; scripts/test makes them")
        clone = os.path.join(self.folder, "clone")
        done = subprocess.run(
            ["git", "clone", "-q", "file://" + ROOT, clone], stderr=subprocess.PIPE
        )
        if done.returncode != 0:
            raise unittest.SkipTest(f"no clone to be had: {done.stderr.decode().strip()}")
        # The files that the demo would download and make exist already.
        os.makedirs(os.path.join(clone, "build"))
        os.symlink(photos, os.path.join(clone, "build", "photos"))
        os.symlink(os.path.join(ROOT, "build", "venv"), os.path.join(clone, "build", "venv"))
        self.env = clean_environment()
        demo = self.paste(f"{clone}/scripts/demo --epochs 1", timeout=600)
        self.assertIn("JPEG decode", demo.stdout)
        self.folder_of_test, self.folder = self.folder, os.path.join(clone, "build", "demo")
        seen = self.follow(demo, set())
        self.assertGreaterEqual(len(seen), 4, seen)
        self.look_at(os.path.join(self.folder, "report.html"))
        trainer = os.path.join(clone, "tests", "programs", "trainers", "image_folder.py")
        second = self.paste(
            f"{clone}/build/release/stageprof run -o second.zst -- {python} {trainer} --epochs 1 "
            f"--data {clone}/build/photos/set",
            timeout=300,
        )
        self.assertEqual(len(self.follow(second, set())), 1)
        self.export_all("run.zst")
        self.compare("run.zst", "second.zst")


if __name__ == "__main__":
    sys.argv = [word for word in sys.argv if word != "--whole"]
    scene.main()
