# SPDX-License-Identifier: Apache-2.0
"""stageprof-report --follow beside a job that runs: on a terminal, in a pipe, and interrupted.

python3 follow.py            one job, followed by all of them at once
python3 follow.py --nightly  another, too, which is killed
"""

import codecs
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

import training

PYTHON = training.interpreter()
REPORT = os.environ["STAGEPROF_TEST_REPORT"]
TRAINER = os.path.join(training.TRAINERS, "data_parallel.py")
INTERVAL_S = 0.5
STEPS = 150
ENTER, LEAVE, HOME = "\x1b[?1049h", "\x1b[?1049l", "\x1b[H"


class Follower:
    """stageprof-report --follow on a terminal of its own, 80 rows by 100 columns."""

    def __init__(self, run, *arguments):
        self.text = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.began = time.monotonic()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm", COLUMNS="100")
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", 80, 100, 0, 0))
            command = [REPORT, "--follow", "--verbose", f"--interval={INTERVAL_S}"]
            os.execv(REPORT, [*command, *arguments, run])

    def read(self, until_s):
        """The output until then, or until the end."""
        while time.monotonic() < until_s:
            ready = select.select([self.terminal], [], [], max(0, until_s - time.monotonic()))[0]
            if not ready:
                return
            try:
                more = os.read(self.terminal, 65536)
            except OSError:  # the other side is closed
                return
            if not more:
                return
            self.text += self.decoder.decode(more)

    def read_frames(self, count, within_s):
        until_s = time.monotonic() + within_s
        while self.text.count(HOME) < count and time.monotonic() < until_s:
            self.read(time.monotonic() + 0.2)

    def finish(self, within_s):
        self.read(time.monotonic() + within_s)
        _, status, self.usage = os.wait4(self.pid, 0)
        self.wall_s = time.monotonic() - self.began
        os.close(self.terminal)
        self.status = os.waitstatus_to_exitcode(status)
        self.frames = self.text.split(ENTER)[1].split(LEAVE)[0].split(HOME)[1:]
        self.last = self.text.split(LEAVE)[1]


def start_job(folder, *arguments):
    run = os.path.join(folder, "run.zst")
    job = subprocess.Popen(
        [PYTHON, TRAINER, "--epochs=1", "--slow-rank=0", *arguments],
        env={**training.environment(True, run, {}), "RANK": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline and job.poll() is None:
        if os.path.isdir(run) and steps_of(run):
            return job, run
        time.sleep(0.5)
    raise AssertionError(f"no step: {job.communicate()}")


def steps_of(run):
    done = subprocess.run(
        [REPORT, "-f", "json", run], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    return json.loads(done.stdout)["steps"]["count"] if done.returncode == 0 else 0


def documents(text):
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        yield value


class Live(unittest.TestCase):
    def test_a_job(self):
        with tempfile.TemporaryDirectory() as folder:
            job, run = start_job(folder, f"--steps={STEPS}", "--slow-ms=60")
            whole, short = Follower(run), Follower(run, "steps")
            with open(os.path.join(folder, "piped"), "w+") as piped:
                pipe = subprocess.Popen(
                    [REPORT, "--follow", f"--interval={INTERVAL_S}", "-f", "json", run],
                    stdout=piped,
                )
                short.read_frames(2, 60)
                os.write(short.terminal, b"\x03")  # Ctrl-C, as a terminal turns it into SIGINT
                short.finish(30)
                whole.finish(120)
                self.assertEqual(pipe.wait(60), 0)
                piped.seek(0)
                counts = [document["steps"]["count"] for document in documents(piped.read())]
            self.assertEqual((job.wait(60), job.communicate()[0].split()[:2]), (0, [b"rank", b"0"]))
        self.check_end(whole)
        self.check_interrupted(short)
        self.check_growth(counts)

    def check_end(self, whole):
        self.assertEqual(whole.status, 0)
        steps = [int(n) for n in re.findall(r"steps      (\d+)", "".join(whole.frames))]
        self.check_growth(steps)
        self.assertIn(f"steps      {STEPS}: ", whole.last)
        self.assertIn("lost       0 events", whole.last)
        self.assertNotIn("\x1b[?1049h", whole.last)
        spent_s = whole.usage.ru_utime + whole.usage.ru_stime
        print(
            f"followed for {whole.wall_s:.1f} s: {len(whole.frames)} reports, {spent_s:.2f} s of "
            f"processor, {100 * spent_s / whole.wall_s:.1f} % of a core"
        )
        # The last two reports of a run, the one on the screen and the one that stays, have no pause
        # after them.
        self.assertLess(spent_s, 0.1 * whole.wall_s + 0.5)

    def check_interrupted(self, short):
        self.assertEqual(short.status, 0)
        self.assertGreaterEqual(len(short.frames), 2)
        self.assertIn("of all steps", short.last)

    def check_growth(self, steps):
        self.assertGreaterEqual(len(steps), 3, steps)
        self.assertEqual(steps, sorted(steps))
        self.assertLess(steps[0], STEPS)
        self.assertEqual(steps[-1], STEPS)

    @unittest.skipUnless("--nightly" in sys.argv, "nightly")
    def test_a_killed_job(self):
        """The threads of a killed job have no end; the view ends because the process is gone and
        silent."""
        with tempfile.TemporaryDirectory() as folder:
            job, run = start_job(folder, "--steps=10000", "--slow-ms=20")
            follower = Follower(run)
            follower.read(time.monotonic() + 2)
            job.send_signal(signal.SIGKILL)
            job.communicate()
            follower.finish(60)
        self.assertEqual(follower.status, 0)
        self.assertIn("the others were killed", follower.last)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
