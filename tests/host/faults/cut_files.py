# SPDX-License-Identifier: Apache-2.0
"""Files of a run cut at many lengths, and words that no hash covers overwritten: no time and no
count is beyond those of the whole run, and the report fails where nothing can be read."""

import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys

import harness

LENGTHS = int(os.environ.get("STAGEPROF_TEST_LENGTHS", "12"))
READER = "import time\nfor i in range(60): open('/etc/passwd').read(); time.sleep(0.002)\n"
HOURS = re.compile(r"[\d,]+ h\b")


def numbers(value, name=""):
    """(name, number) of every number in a JSON answer."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers(inner, name)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield name, value


class Cut(harness.Case):
    def setUp(self):
        super().setUp()
        self.run_folder = os.path.join(self.folder, "run.zst")
        program = os.path.join(harness.environment("STAGEPROF_TEST_PROGRAMS"), "stageprof")
        env = harness.traced_environment(self.folder)
        del env["LD_PRELOAD"]
        words = [program, "run", "--quiet", "--", sys.executable, "-c", READER]
        subprocess.run(words, cwd=self.folder, env=env, check=True, timeout=120)
        whole = self.answer("summary", self.run_folder)[0]["run"]
        self.wall, self.events = whole["wall_ns"], whole["events_recorded"]

    def answer(self, view, path):
        command = [harness.environment("STAGEPROF_TEST_REPORT"), view]
        said = [
            subprocess.run(command + options + [path], capture_output=True, timeout=60)
            for options in ([], ["--format=json"])
        ]
        for done in said:  # a damaged file is no program without calls
            self.assertNotIn(b"SP205", done.stderr)
        self.assertEqual(said[0].returncode, said[1].returncode)
        self.assertIn(said[0].returncode, (0, 1))
        text = said[0].stdout.decode()
        return (json.loads(said[1].stdout) if said[1].stdout else None), text, said[0].returncode

    def check(self, path):
        for view in ("summary", "stages", "processes"):
            answer, text, status = self.answer(view, path)
            self.assertEqual(HOURS.findall(text), [], text)
            if status and not answer:
                continue
            run = answer["run"]
            self.assertLessEqual(run["wall_ns"], self.wall * 1.5 + 1e8)
            self.assertLessEqual(run["events_recorded"], self.events)
            for name, number in numbers(answer):
                if name in ("events_lost", "no_file", "full", "nested", "oom_kills"):
                    self.assertEqual(number, 0, f"{view} {name}")
                if name.endswith("_ns") and name != "begin_realtime_ns":
                    self.assertLess(abs(number), 100 * (self.wall + 10**9), f"{view} {name}")

    def test_lengths(self):
        draw = random.Random(LENGTHS)
        files = sorted(glob.glob(os.path.join(self.run_folder, "*")))
        lengths = [0, 120, 248, 500, 512, 4096] + [
            draw.randrange(os.path.getsize(draw.choice(files))) for _ in range(LENGTHS)
        ]
        for chosen in [files] + [[name] for name in files]:
            for length in lengths:
                target = os.path.join(self.folder, "cut.zst")
                shutil.rmtree(target, ignore_errors=True)
                shutil.copytree(self.run_folder, target)
                for name in chosen:
                    part = os.path.join(target, os.path.basename(name))
                    os.truncate(part, min(length, os.path.getsize(part)))
                with self.subTest(length=length, files=len(chosen)):
                    self.check(target)

    def test_overwritten_words(self):
        """A byte over a whole word fits the word's check."""
        files = glob.glob(os.path.join(self.run_folder, "*"))
        marker = next(path for path in files if "/0-run-" in path)
        main = max((path for path in files if path != marker), key=os.path.getsize)
        for path, words in (marker, range(64, 128, 8)), (main, range(272, 336, 8)):
            for at in words:
                self.overwrite(path, at, b"\xaa" * 8)
                with self.subTest(file=path, at=at):
                    self.check(os.path.join(self.folder, "cut.zst"))

    def overwrite(self, path, at, data):
        target = os.path.join(self.folder, "cut.zst")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.run_folder, target)
        with open(os.path.join(target, os.path.basename(path)), "r+b") as file:
            file.seek(at)
            file.write(data)


if __name__ == "__main__":
    harness.main()
