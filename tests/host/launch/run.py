# SPDX-License-Identifier: Apache-2.0
"""stageprof run against the same command by hand: environment, status, signals, terminal."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import scene
from scene import LIBRARY, PYTHON, REPORT, ROOT, STAGEPROF, Terminal, clean_environment

READER = "with open('data.bin', 'rb', buffering=0) as f:\n for _ in range(70): f.read(10)\n"

READ_ONE = (
    "import os; os.read(os.open('/etc/passwd', 0), 1); print('read', flush=True); os._exit(3)"
)

# Says `ready`, then every signal that it gets as a line, until a line of another kind ends it.
COUNTER = """
import os, signal, sys, time
got = []
for name in ("SIGTERM", "SIGINT", "SIGUSR1", "SIGHUP", "SIGCONT"):
    number = getattr(signal, name)
    signal.signal(number, lambda number, frame: got.append(signal.Signals(number).name))
print("ready", os.getpid(), flush=True)
deadline = time.monotonic() + 30
while not got and time.monotonic() < deadline:
    time.sleep(0.01)
time.sleep(0.3)  # one that came twice would be here by now
print(" ".join(got), flush=True)
"""

STATES = """
import os
for line in open("/proc/self/status"):
    if line.startswith(("SigBlk", "SigIgn", "SigCgt", "SigPnd", "ShdPnd", "Seccomp", "NoNewPrivs")):
        print(line.strip())
print(sorted(int(name) for name in os.listdir("/proc/self/fd")))
print(os.getpgrp() == os.getpgid(os.getppid()), os.getcwd(), os.umask(0))
print(sorted((k, v) for k, v in os.environ.items() if k not in ("STAGEPROF_RUN", "_")))
"""


def settings():
    with open(os.path.join(ROOT, "preload", "settings", "config.def")) as file:
        return re.findall(r'^SP_SETTING\((\w+), "(\w+)", "(.*?)"', file.read(), re.M)


# A value of each form that is no list of words.
FITTING = {
    "": "a b",
    "NUMBER": "7",
    "RATE": "100",
    "A:B": "0:8",
    "FIRST-LAST,...": "0-7,9",
    "SOME/MANY": "4/200",
    "STAGE>TIME,...": "file_read>10ms,mmap>1s",
    "MODULE:NAME,...": "a:b,c.d:e.f",
    "gpu_time,...|lines,...|waits,...": "waits,gpu_time",
}


class Same(scene.Case):
    """`stageprof run` behaves like the run by hand."""

    def by_hand(self, *argv, **options):
        return self.call(*argv, env=clean_environment(LD_PRELOAD=LIBRARY), **options)

    def test_statuses(self):
        for status in (0, 1, 2, 3, 77, 125, 126, 127, 128, 255):
            done = self.run_under("sh", "-c", f"exit {status}")
            self.assertEqual(done.returncode, status)

    def test_deaths(self):
        for number in (
            "TERM",
            "KILL",
            "INT",
            "HUP",
            "ABRT",
            "SEGV",
            "PIPE",
            "QUIT",
            "USR1",
            "XCPU",
            "RTMIN",
        ):
            done = self.run_under("sh", "-c", f"ulimit -c 0; kill -{number} $$")
            self.assertEqual(-done.returncode, getattr(signal, "SIG" + number), number)

    def test_process_state(self):
        script = os.path.join(self.folder, "states.py")
        with open(script, "w") as file:
            file.write(STATES)
        # A sampler needs a variable of its own.
        for before in ("", "trap '' TERM PIPE USR1; "):
            before += "export STAGEPROF_SAMPLE=0; "
            hand = self.by_hand("sh", "-c", f"{before}exec {PYTHON} states.py")
            ours = self.call("sh", "-c", f"{before}exec {STAGEPROF} run -- {PYTHON} states.py")
            self.assertIn("SigIgn", hand.stdout)
            self.assertEqual(hand.stdout.splitlines(), ours.stdout.splitlines())

    def test_ignored_children_signal(self):
        """A parent that ignores SIGCHLD reaps nothing, and so would we."""
        done = self.call("bash", "-c", f"trap '' CHLD; {STAGEPROF} run -- sh -c 'exit 9'")
        self.assertEqual(done.returncode, 9)

    def test_events(self):
        with open(os.path.join(self.folder, "data.bin"), "wb") as file:
            file.write(b"x" * 1000)
        self.by_hand(PYTHON, "-c", READER)
        self.run_under(PYTHON, "-c", READER)
        calls = []
        for run in ("run.zst", "run-2.zst"):
            told = json.loads(self.call(REPORT, "files", "--format=json", "-n", "all", run).stdout)
            calls.append([f["reads"] for f in told["files"] if f["name"].endswith("/data.bin")])
        self.assertEqual(calls, [[70], [70]])

    def test_streams(self):
        with open(os.path.join(self.folder, "input"), "w") as file:
            file.write("a line\n")
        with open(os.path.join(self.folder, "input")) as file:
            done = self.run_under("cat", options=["-q"], stdin=file)
        self.assertEqual(done.stdout, "a line\n")

    def test_closed_standard_error(self):
        """The card has no place then; the command's output is none."""
        done = self.call("sh", "-c", 'exec "$0" run -- echo here 2>&-', STAGEPROF)
        self.assertEqual((done.returncode, done.stdout), (0, "here\n"))

    def test_shim(self):
        """A process that began the run records under `none` after an exec: shims do that."""
        for prefix in ([], [STAGEPROF, "run", "--quiet", "--"]):
            env = clean_environment(
                LD_PRELOAD=LIBRARY, STAGEPROF_CHILDREN="none", STAGEPROF_OUTPUT="none.zst"
            )
            self.call(
                *prefix, "sh", "-c", f"exec {PYTHON} -c 'open(\"/etc/hostname\").read()'", env=env
            )
            self.assertTrue(os.path.isdir(os.path.join(self.folder, "none.zst")))
            shutil.rmtree(os.path.join(self.folder, "none.zst"))
        read = "open('/etc/passwd').read()"
        child = f"import subprocess, sys; subprocess.call([sys.executable, '-c', {read!r}])"
        self.run_under(PYTHON, "-c", child, options=["--children=none", "-o", "none.zst"])
        told = json.loads(self.call(REPORT, "processes", "--format=json", "none.zst").stdout)
        self.assertEqual(len(told["processes"]), 1)


class Environment(scene.Case):
    def test_every_setting_is_an_option(self):
        names = settings()
        self.assertGreater(len(names), 10)
        for field, variable, form in names:
            word = form.split("|")[-1]
            value = FITTING.get(form) or FITTING.get(word, word)
            done = self.run_under("printenv", variable, options=[f"--{field}={value}"])
            self.assertEqual(done.stdout, value + "\n", done.stderr)
        for field in ("run", "sampler", "clock"):
            done = self.run_under("true", options=[f"--{field}=x"])
            self.assertEqual(done.returncode, 2, field)

    def test_settings_that_are_gone(self):
        """One line says what to use, of an option and of a variable."""
        done = self.run_under("true", options=["--nodes=all"])
        self.assertEqual(done.returncode, 2)
        line = "stageprof: cannot take --nodes=all: it was removed; use STAGEPROF_OPS=nodes, or =0 "
        self.assertEqual(done.stderr, line + "[SP108]\n")
        env = clean_environment(LD_PRELOAD=LIBRARY, STAGEPROF_WAITS="0")
        done = self.call(PYTHON, "-c", READ_ONE, env=env)
        line = "stageprof: unknown setting STAGEPROF_WAITS=0; use STAGEPROF_WITHOUT=waits\n"
        self.assertEqual(done.stderr, line)

    def preload(self, before):
        env = clean_environment(**({"LD_PRELOAD": before} if before else {}))
        return self.run_under("printenv", "LD_PRELOAD", env=env).stdout.strip()

    def test_preloads_are_kept(self):
        other = os.path.join(self.folder, "other.so")
        asan = os.path.join(self.folder, "libasan.so.8")
        for path in (other, asan):
            code = os.path.join(self.folder, "empty.c")
            with open(code, "w") as file:
                file.write("int stageprof_test_nothing;\n")
            subprocess.run(["gcc", "-shared", "-fPIC", "-o", path, code], check=True)
        self.assertEqual(self.preload(None), LIBRARY)
        self.assertEqual(self.preload(other), f"{LIBRARY}:{other}")
        self.assertEqual(self.preload(f"{other} {LIBRARY}"), f"{LIBRARY}:{other}")
        self.assertEqual(self.preload(f"{asan}:{other}"), f"{asan}:{LIBRARY}:{other}")
        self.assertEqual(self.preload(asan), f"{asan}:{LIBRARY}")


class Signals(scene.Case):
    def ready(self, *argv):
        process = self.start(STAGEPROF, "run", "-q", "--", *argv)
        return process, int(process.stdout.readline().split()[1])

    def test_forwarded_once(self):
        for number in (
            signal.SIGTERM,
            signal.SIGINT,
            signal.SIGUSR1,
            signal.SIGHUP,
            signal.SIGCONT,
        ):
            process, _ = self.ready(PYTHON, "-c", COUNTER)
            process.send_signal(number)
            self.assertEqual(process.stdout.readline().strip(), number.name)
            self.assertEqual(process.wait(20), 0)

    def test_group_once(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            process, _ = self.ready(PYTHON, "-c", COUNTER)
            os.killpg(process.pid, number)
            self.assertEqual(process.stdout.readline().strip(), number.name)
            self.assertEqual(process.wait(20), 0)

    def test_group_once_where_the_launcher_gets_a_core_first(self):
        """The helper that counts the group's signals waits for a core: here it is stopped."""
        process, trainer = self.ready(PYTHON, "-c", COUNTER)
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            (helper,) = {int(pid) for pid in file.read().split()} - {trainer}
        os.kill(helper, signal.SIGSTOP)
        os.killpg(process.pid, signal.SIGTERM)
        time.sleep(0.2)
        os.kill(helper, signal.SIGCONT)
        self.assertEqual(process.stdout.readline().strip(), "SIGTERM")
        self.assertEqual(process.wait(20), 0)

    def test_killed_launcher(self):
        process, trainer = self.ready(PYTHON, "-c", COUNTER)
        process.kill()
        process.wait()
        for _ in range(200):
            state = self.state(trainer)
            if state in (None, "Z"):
                return
            time.sleep(0.02)
        self.fail(f"the command still runs: {state}")

    @staticmethod
    def state(pid):
        try:
            with open(f"/proc/{pid}/stat") as file:
                return file.read().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return None

    def test_stops_and_goes_on(self):
        stopper = (
            "import os, signal; print('ready', os.getpid(), flush=True)\n"
            "os.kill(os.getpid(), signal.SIGSTOP); print('on', flush=True)"
        )
        process, _ = self.ready(PYTHON, "-c", stopper)
        pid, status = os.waitpid(process.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        self.assertEqual(os.WSTOPSIG(status), signal.SIGSTOP)
        process.send_signal(signal.SIGCONT)
        self.assertEqual(process.stdout.readline(), "on\n")
        self.assertEqual(process.wait(20), 0)

    def test_no_process_is_left(self):
        process = self.start(STAGEPROF, "run", "-q", "--", "true")
        process.wait(20)
        self.assertRaises(ProcessLookupError, os.killpg, process.pid, 0)


class JobControl(scene.Case):
    def test_shell(self):
        shell = Terminal(
            self,
            ["bash", "--norc", "--noprofile", "-i"],
            env=clean_environment(TERM="dumb", PS1="$ "),
        )
        ticks = f"{PYTHON} -uc 'import time\nwhile 1: print(\"tick\"); time.sleep(.05)'"
        shell.send(f"{STAGEPROF} run -- {ticks}\n")
        shell.expect("\ntick")
        shell.send("\x1a")
        shell.expect(r"Stopped.*stageprof run")
        shell.send("echo now $((6*7))\n")
        shell.expect("now 42")
        shell.send("fg\n")
        shell.expect("\ntick")
        shell.send("\x03")
        shell.expect("KeyboardInterrupt")
        shell.expect("stageprof: the trace is in")
        shell.send("echo status $?\n")
        shell.expect("status 130")

    def test_pipeline(self):
        """Either side of a pipe stops and goes on with the whole job, in the background too."""
        ticks = f"{PYTHON} -uc 'import time\nwhile 1: print(\"tick\"); time.sleep(.05)'"
        for job in (f"{STAGEPROF} run -q -- {ticks} | cat", f"{ticks} | {STAGEPROF} run -q -- cat"):
            shell = Terminal(
                self,
                ["bash", "--norc", "--noprofile", "-i"],
                env=clean_environment(TERM="dumb", PS1="$ "),
            )
            shell.send(job + "\n")
            for again in ("fg", "bg"):
                shell.expect("\ntick")
                shell.send("\x1a")
                shell.expect("Stopped")
                shell.send(again + "\n")
            for _ in range(20):  # a ^C that comes before the job has the terminal is the shell's
                shell.expect("\ntick")
                shell.send("fg\n")
                shell.expect("\ntick")
                shell.send("\x03")
                shell.send("echo left $(jobs | wc -l)\n")
                if shell.expect(r"left \d").endswith("0"):
                    break
            else:
                self.fail("the job does not end")

    def test_reads_the_terminal(self):
        shell = Terminal(
            self,
            ["bash", "--norc", "--noprofile", "-i"],
            env=clean_environment(TERM="dumb", PS1="$ "),
        )
        shell.send(f"{STAGEPROF} run -q -- {PYTHON} -c 'print(input() * 2)'\n")
        shell.send("ab\n")
        shell.expect("abab")


class Next(scene.Case):
    READ = "open('/etc/hostname').read()"

    def pasted(self, done, **options):
        """Runs the line that is offered, as a shell would."""
        lines = done.stderr.splitlines()
        head, view, page, again = lines[-4:]
        self.assertRegex(head, r"^stageprof: the trace is in .*; next:$")
        told = self.call("bash", "-c", view, **options)
        self.assertEqual(told.returncode, 0, f"{view}: {told.stderr}")
        self.assertRegex(told.stdout, "^verdict ")
        made = self.call("bash", "-c", page, **options)
        self.assertEqual(made.returncode, 0, f"{page}: {made.stderr}")
        self.assertRegex(again, "^    .*stageprof again  +# ")
        self.assertLessEqual(len(lines), 13)
        return view.strip()

    def test_first_and_second_run(self):
        for name in ("run.zst", "run-2.zst"):
            done = self.run_under(PYTHON, "-c", self.READ)
            self.assertEqual(self.pasted(done), f"{REPORT} {name}")

    def test_by_name_on_path(self):
        env = clean_environment(PATH=scene.BIN + ":" + os.environ["PATH"])
        done = self.run_under(PYTHON, "-c", self.READ, env=env)
        self.assertEqual(self.pasted(done, env=env), "stageprof-report run.zst")

    def test_names(self):
        os.mkdir(os.path.join(self.folder, "elsewhere"))
        for name in (
            "a b.zst",
            "it's.zst",
            "-x.zst",
            "$(id);.zst",
            "new\nline.zst",
            "elsewhere/训练.zst",
            "%p.zst",
        ):
            self.pasted(self.run_under(PYTHON, "-c", self.READ, options=["-o", name]))

    def test_unknown_letters_of_a_name_stay(self):
        self.run_under(PYTHON, "-c", self.READ, options=["-o", "%z-%q-%%-100%.zst"])
        self.assertIn("%z-%q-%-100%.zst", os.listdir(self.folder))

    def test_failed_trainer(self):
        done = self.run_under(PYTHON, "-c", self.READ + "; raise SystemExit(4)")
        self.assertEqual(done.returncode, 4)
        self.pasted(done)

    def test_nested(self):
        """A run in a run joins it."""
        done = self.run_under(STAGEPROF, "run", "-q", "--", PYTHON, "-c", self.READ)
        self.pasted(done)
        self.assertEqual([n for n in os.listdir(self.folder) if n.endswith(".zst")], ["run.zst"])

    def test_page_that_is_there(self):
        """The page stays; the advice of the report's own line has the command that it is for."""
        page = os.path.join(self.folder, "page.html")
        with open(page, "w") as file:
            file.write("mine")
        done = self.run_under(PYTHON, "-c", self.READ, options=["-q", "--html=page.html"])
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr.splitlines()[0], r"^stageprof-report: page.html: .*\[SP206\]$")
        self.assertRegex(
            done.stderr.splitlines()[1],
            r"^stageprof: cannot make the page page.html: .*stageprof-report html .*\[SP117\]$",
        )
        with open(page) as file:
            self.assertEqual(file.read(), "mine")

    def test_quiet(self):
        self.assertEqual(self.run_under(PYTHON, "-c", self.READ, options=["-q"]).stderr, "")


class Again(scene.Case):
    """stageprof again: the last command of the directory; --against: the run to compare with."""

    TELL = "import os, sys; open('/etc/hostname').read(); print(sys.argv[1:], os.getcwd())"

    def setUp(self):
        super().setUp()
        self.state = os.path.join(self.folder, "state")
        os.mkdir(self.state)
        self.env = clean_environment(XDG_STATE_HOME=self.state)

    def again(self, *options, status=0, **more):
        done = self.call(STAGEPROF, "again", *options, **{"env": self.env, **more})
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def kept(self):
        return os.path.join(self.state, "stageprof", "last-commands")

    def test_words_and_options(self):
        words = ["a b", "--x=$(id)", "", "--", "ü", "-o"]
        first = self.run_under(
            PYTHON, "-c", self.TELL, *words, options=["-o", "first.zst"], env=self.env
        )
        done = self.again()
        self.assertEqual(done.stdout, first.stdout)
        self.assertIn("first-2.zst", os.listdir(self.folder))
        said = done.stderr.splitlines()[0]
        self.assertRegex(said, "^stageprof run -o first.zst -- ")
        pasted = said.replace("stageprof", STAGEPROF, 1)
        self.assertEqual(self.call("bash", "-c", pasted, env=self.env).stdout, first.stdout)
        self.again("--output=second.zst")
        self.assertIn("second.zst", os.listdir(self.folder))
        self.again("--quiet", "-othird.zst")
        self.assertIn("third.zst", os.listdir(self.folder))

    def test_status_and_failure(self):
        self.run_under("sh", "-c", "cat /etc/hostname; exit 7", env=self.env)
        self.run_under(PYTHON, "-c", "open('/etc/hostname').read(); exit(6)", env=self.env)
        self.again(status=6)

    def test_directories(self):
        """Each has its own; of very many the oldest are forgotten."""
        for i in range(40):
            folder = os.path.join(self.folder, str(i))
            os.mkdir(folder)
            self.run_under(
                PYTHON, "-c", self.TELL, str(i), cwd=folder, options=["-q"], env=self.env
            )
        for i in (39, 20, 10):
            folder = os.path.join(self.folder, str(i))
            self.assertIn(f"['{i}']", self.again(cwd=folder).stdout)
        self.again(cwd=os.path.join(self.folder, "0"), status=2)
        self.assertLess(os.path.getsize(self.kept()), 32 * 600)

    def test_nobody_else_reads_it(self):
        self.run_under(PYTHON, "-c", self.TELL, "secret", env=self.env)
        self.assertEqual(os.stat(self.kept()).st_mode & 0o777, 0o600)
        self.assertEqual(os.listdir(os.path.dirname(self.kept())), ["last-commands"])
        for folder, _, names in os.walk(os.path.join(self.folder, "run.zst")):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    self.assertNotIn(b"secret", file.read())
        os.chmod(self.kept(), 0o666)
        self.again(status=2)

    def test_new_home(self):
        """A container's home has no ~/.local."""
        home = os.path.join(self.folder, "home")
        os.mkdir(home)
        self.env = clean_environment(HOME=home)
        self.env.pop("XDG_STATE_HOME", None)
        first = self.run_under(PYTHON, "-c", self.TELL, "new", env=self.env)
        self.assertIn("stageprof again", first.stderr)
        self.assertEqual(self.again().stdout, first.stdout)
        self.assertEqual(os.stat(os.path.join(home, ".local", "state")).st_mode & 0o777, 0o700)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_home_of_another_user(self):
        """Root by sudo -E leaves nothing that the user could not use."""
        home = os.path.join(self.folder, "home")
        os.mkdir(home)
        os.chown(home, 1234, 1234)
        self.env = clean_environment(HOME=home)
        self.env.pop("XDG_STATE_HOME", None)
        done = self.run_under(PYTHON, "-c", self.TELL, env=self.env)
        self.assertNotIn("stageprof again", done.stderr)
        self.assertEqual(os.listdir(home), [])

    def test_too_long(self):
        """The one before does not run in its stead; those of other directories stay."""
        other = os.path.join(self.folder, "other")
        os.mkdir(other)
        self.run_under(PYTHON, "-c", self.TELL, "other", cwd=other, env=self.env)
        self.run_under(PYTHON, "-c", self.TELL, "old", env=self.env)
        long = self.run_under(PYTHON, "-c", self.TELL, *["x" * 100000] * 3, env=self.env)
        self.assertNotIn("stageprof again", long.stderr)
        self.again(status=2)
        self.assertIn("['other']", self.again(cwd=other).stdout)

    def test_damaged(self):
        self.run_under(PYTHON, "-c", self.TELL, env=self.env)
        with open(self.kept(), "rb") as file:
            whole = file.read()
        for bad in [whole[:n] for n in range(0, len(whole), 5)] + [b"\xff" * 100, bytes(100)]:
            with open(self.kept(), "wb") as file:
                file.write(bad)
            self.again(status=2)

    def test_no_place(self):
        """The run is as any other, and offers nothing that does not work."""
        for env in (
            clean_environment(XDG_STATE_HOME="/proc/none"),
            clean_environment(XDG_STATE_HOME=self.state, RANK="3", WORLD_SIZE="8"),
        ):
            done = self.run_under(PYTHON, "-c", self.TELL, env=env)
            self.assertEqual(done.returncode, 0)
            self.assertIn("; next:", done.stderr)
            self.assertNotIn("stageprof again", done.stderr)
        self.assertFalse(os.path.exists(self.kept()))

    def test_refused(self):
        done = self.again(status=2)
        self.assertIn("[SP119]", done.stderr)
        for words in (["train.py"], ["--", "train.py"], ["-o", "x.zst"]):
            self.again(*words, status=2)
        self.assertIn("stageprof again", self.again("--help").stdout)

    def test_against(self):
        told = self.run_under("touch", "started", options=["--against=no.zst"], env=self.env)
        self.assertEqual(told.returncode, 2)
        self.assertRegex(told.stderr, r"cannot compare with no.zst: .*\[SP118\]")
        os.mkdir(os.path.join(self.folder, "empty"))
        told = self.run_under("touch", "started", options=["--against=empty"], env=self.env)
        self.assertEqual(told.returncode, 2)
        self.assertRegex(told.stderr, r"cannot compare with empty: it holds no trace.*\[SP118\]")
        self.assertNotIn("started", os.listdir(self.folder))
        told = self.run_under(PYTHON, "-c", self.TELL, options=["--against"], env=self.env)
        self.assertIn("no earlier run", told.stderr)


class Wrong(scene.Case):
    def expect(self, status, pattern, *argv, **options):
        done = self.call(STAGEPROF, *argv, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, pattern)
        self.assertEqual(done.stdout, "")

    def test_command_lines(self):
        self.expect(2, "COMMAND is missing")
        self.expect(2, "COMMAND is missing", "run")
        self.expect(2, "unrecognized option '--bogus'", "run", "--bogus", "--", "true")
        self.expect(2, "stageprof run -- python3 -m a.train\n", "run", "-m", "a.train", "--x=1")
        self.expect(2, "unknown command trian", "trian")
        self.expect(127, r"no-such-program: .*\[SP103\]", "run", "no-such-program")
        self.expect(126, r"\[SP104\]", "run", "/etc/passwd")
        self.expect(125, r"nowhere\.so: .*\[SP101\]", "run", "--library=nowhere.so", "true")

    def test_values_of_settings(self):
        """Each setting that is not free text says in one line what it takes, before anything is
        started."""
        for field, variable, form in settings():
            if not form:
                continue
            env = clean_environment(**{variable: "ba,nana"})
            for options, settings_env in ([f"--{field}=ba,nana"], None), ([], env):
                done = self.call(
                    STAGEPROF, "run", *options, "--", "touch", "started", env=settings_env
                )
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertRegex(
                    done.stderr,
                    rf"\Astageprof: cannot take \S+=ba,nana: it takes {re.escape(form)}; .*\[SP108\]\n\Z",
                )
        self.assertEqual(os.listdir(self.folder), [])

    def test_values_without_the_launcher(self):
        """Recorded as if the variable were not set, and said once."""
        env = clean_environment(LD_PRELOAD=LIBRARY, STAGEPROF_MODE="banana", STAGEPROF_STEPS="x")
        done = self.call(PYTHON, "-c", READ_ONE, env=env)
        self.assertEqual((done.returncode, done.stdout), (3, "read\n"))
        self.assertEqual(
            done.stderr,
            "stageprof: ignored: STAGEPROF_MODE=banana; it takes auto|map|write\n",
        )
        self.assertTrue(os.path.isdir(os.path.join(self.folder, "run.zst")))

    def test_unknown_settings_once_a_job(self):
        """All processes inherit the setting; the first one that records says that it is unknown."""
        program = (
            "import subprocess, sys\n"
            "open('/proc/version').read()\n"
            "for _ in range(3): subprocess.run([sys.executable, '-c', 'import json'])\n"
        )
        env = clean_environment(LD_PRELOAD=LIBRARY, STAGEPROF_BANANA="1")
        done = self.call(PYTHON, "-c", program, env=env)
        self.assertEqual(done.stderr.count("unknown setting STAGEPROF_BANANA=1"), 1, done.stderr)

    def test_script_without_interpreter(self):
        script = os.path.join(self.folder, "s")
        with open(script, "w") as file:
            file.write("#!/no/such/interpreter\n")
        os.chmod(script, 0o755)
        self.expect(126, r"\[SP104\]", "run", "--", script)


if __name__ == "__main__":
    scene.main()
