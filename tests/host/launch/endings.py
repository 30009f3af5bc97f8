# SPDX-License-Identifier: Apache-2.0
"""Ways in which a PyTorch training ends; the report names each, and a hang by its chain.

Environment: that of scene.py, and STAGEPROF_TEST_PYTHON, an interpreter that imports torch.
"""

import contextlib
import fcntl
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import scene
from scene import REPORT, STAGEPROF, clean_environment

PYTHON = os.environ.get("STAGEPROF_TEST_PYTHON", "")
ALIVE_AT = 96  # command_alive_ns in the marker (docs/FORMAT.md, RUN)
OPENS = ("file_open", "import_open")
OPEN_NS = 500_000_000  # one that is longer is that of the FIFO
OPENS_RARE = 100  # of a life, one part in so many: RARE of analyzer/hang/hang.c
LOOKS = 3  # the first one may have begun before
TRAINER = """
import ctypes, fcntl, os, signal, sys, threading, time
import torch
from torch.utils.data import DataLoader, Dataset

STUCK = ("fifo", "lock", "mutex", "copied", "limit", "late")
how = sys.argv[1]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job of a shell's background ignores it
libc = ctypes.CDLL(None)
mutex = (ctypes.c_long * 8)()

def hold():
    libc.pthread_mutex_lock(mutex)
    time.sleep(600)

def hold_in_a_thread():
    threading.Thread(target=hold, daemon=True).start()
    while not mutex[0]:
        time.sleep(0.01)

class Data(Dataset):
    def __len__(self):
        return 8 * 60
    def __getitem__(self, i):
        if how in ("fifo", "limit") and i == 8 * 30:
            open("fifo").read()
        if how == "late" and i == 8 * 30:
            time.sleep(6)
            raise ValueError("a sample that is broken")
        if how == "lock" and i == 8 * 30:
            fcntl.flock(open("locked", "w"), fcntl.LOCK_EX)
        if how == "mutex" and i == 8 * 30:
            hold_in_a_thread()
        if how == "bad":
            raise ValueError("a sample that is broken")
        if how in ("mutex", "copied") and i == 8 * 30:
            libc.pthread_mutex_lock(mutex)
        return torch.randn(8)

if how == "copied":
    hold_in_a_thread()
if how == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
rank = int(os.environ.get("RANK", "-1"))
model = torch.nn.Linear(8, 8)
if rank >= 0:
    torch.distributed.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if how == "daemon" and os.fork():
    os._exit(0)
while how == "daemon" and not os.path.exists("go"):
    time.sleep(0.05)
if how == "bare":
    model(torch.randn(8, 9))
limit = 6 if how == "limit" else 0
for step, batch in enumerate(DataLoader(Data(), 8, num_workers=how in STUCK, timeout=limit)):
    optimizer.zero_grad()
    loss = model(batch).sum()
    if how == "early":
        sys.exit(1)
    loss.backward()
    optimizer.step()
    if step == 20 and how == "wait":
        open("ready", "w").close()
        time.sleep(600)
    if step == 20 and how in ("alone", "deaf"):
        open("fifo").read()
    if step == 20 and how == "rank" and rank == 1:
        time.sleep(600)
    if step == 40 and how == "exit1":
        sys.exit(1)
    if step == 40 and how == "term":
        os.kill(os.getpid(), signal.SIGTERM)
    if step == 40 and how == "memory":
        kept = []
        while True:
            kept.append(bytearray(os.urandom(1 << 20)) * 64)
"""

RANKS = """
import torch
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    torch.distributed.init_process_group("gloo")
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rows = TensorDataset(torch.rand(32, 4))
    for (batch,) in DataLoader(rows, 4, num_workers=2, multiprocessing_context="spawn"):
        model(batch).sum().backward()
        optimizer.step()
"""


def has_torch():
    if not PYTHON or not os.path.exists(PYTHON):
        return False
    if os.environ.get("IMPORTS_TORCH") == PYTHON:  # another process of this test has tried
        return True
    return subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipUnless(has_torch(), "no interpreter with torch")
class Trained(scene.Case):
    def setUp(self):
        super().setUp()
        with open(os.path.join(self.folder, "train.py"), "w") as file:
            file.write(TRAINER)

    def run_it(self, how, output="run.zst", before=()):
        return subprocess.run(
            [*before, STAGEPROF, "run", "-o", output, "--", PYTHON, "train.py", how],
            cwd=self.folder,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            timeout=120,
        )

    def report(self, *options, status=0, run="run.zst"):
        done = self.call(REPORT, "--format=json", *options, run)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout)

    def trainer(self, document):
        return [end for end in document["ending"] if end["role"] in ("trainer", "command")][0]

    def started(self, *argv, **more):
        return self.start(*argv, env=clean_environment(**more))

    def wait_for_hang(self, run="run.zst"):
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            time.sleep(1)
            if not os.path.isdir(os.path.join(self.folder, run)):
                continue
            done = self.call(REPORT, "--format=json", run)
            document = json.loads(done.stdout) if done.returncode == 0 else {}
            if document.get("hang"):
                self.assertEqual(document["verdict"]["code"], "hung")
                return document
        raise AssertionError(f"no hang was seen: {document.get('verdict')}")


class Settings(Trained):
    def test_unknown_settings_with_ranks_and_workers(self):
        """torchrun, two ranks and their workers inherit the setting; one process names it."""
        with open(os.path.join(self.folder, "ranks.py"), "w") as file:
            file.write(RANKS)
        command = [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
        env = clean_environment(LD_PRELOAD=scene.LIBRARY, STAGEPROF_BANANA="1")
        done = self.call(*command, "ranks.py", env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        roles = [end["role"] for end in self.report()["ending"]]
        self.assertEqual((roles.count("trainer"), roles.count("worker")), (2, 4))
        self.assertEqual(done.stderr.count("unknown setting STAGEPROF_BANANA=1"), 1, done.stderr)


class Endings(Trained):
    def test_success(self):
        done = self.run_it("whole")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^ended +with success after")
        document = self.report()
        end = self.trainer(document)
        self.assertEqual((end["how"], end["status"], end["signal"]), ("exited", 0, None))
        self.assertNotIn(document["verdict"]["rule"], ("hung", "not_recorded"))
        self.assertIsNone(document["hang"])
        self.empty_selections()
        self.truncated()

    def empty_selections(self):
        # The last one has the events of imports, and no step.
        for options in (["--steps=9000:9999"], ["--from=3s", "--to=1s"], ["--to=200ms"]):
            done = self.call(REPORT, "--format=json", *options, "run.zst")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("[SP203]", done.stderr)
            self.check_abstains(json.loads(done.stdout))

    def truncated(self):
        folder = os.path.join(self.folder, "cut.zst")
        shutil.copytree(os.path.join(self.folder, "run.zst"), folder)
        for name in os.listdir(folder):
            os.truncate(os.path.join(folder, name), 500)
        self.check_abstains(self.report(run="cut.zst", status=1))

    def check_abstains(self, document):
        verdict = document["verdict"]
        said = verdict["code"], verdict["reason"]
        self.assertEqual(said, ("cannot-tell", "not-recorded"), verdict["text"])
        self.assertEqual((verdict["severe"], verdict["confidence"]), (False, "low"))

    def test_daemon(self):
        """The command ends before its child begins to train; the card does not know how it ends."""
        errors = os.path.join(self.folder, "errors")
        with open(errors, "w") as file:  # the child keeps it open, so no pipe
            done = subprocess.run(
                [STAGEPROF, "run", "--", PYTHON, "train.py", "daemon"],
                cwd=self.folder,
                env=clean_environment(),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                timeout=120,
            )
        with open(errors) as file:
            card = file.read()
        self.assertEqual(done.returncode, 0, card)
        self.assertIn("there is no training yet, and process ", card)
        time.sleep(1.5)  # an end within a second of the command's is the command's
        open(os.path.join(self.folder, "go"), "w").close()
        deadline = time.monotonic() + 60
        ends = []
        while [end["status"] for end in ends if end["role"] == "trainer"] != [0]:
            self.assertLess(time.monotonic(), deadline, ends)
            time.sleep(0.5)
            ends = self.report()["ending"]
        text = self.call(REPORT, "run.zst").stdout
        self.assertRegex(text, r"(?m)^ended +with success after .*; the command ended after ")

    def test_failures_in_the_first_step(self):
        """There is no step, perhaps a loader and a forward: no evaluation, no loop unseen, and
        nothing that says that the program does not train."""
        for how in "bad", "early", "bare":
            done = self.run_it(how, output=how)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, r"(?m)^ended +failed with exit status 1 after")
            document = self.report(run=how)
            self.check_abstains(document)
            self.assertIn("no step was recorded before", document["verdict"]["text"])

    def test_exit(self):
        self.assertEqual(self.run_it("exit1").returncode, 1)
        document = self.report()
        end = self.trainer(document)
        self.assertEqual((end["how"], end["status"]), ("exited", 1))
        self.check_judges(document)

    def check_judges(self, document):
        """The steps before the end have a verdict as those of any run."""
        verdict = document["verdict"]
        said = verdict["reason"] or verdict["code"]
        self.assertNotIn(said, ("hung", "not-recorded", "no-training"), verdict["text"])
        self.assertIsNone(document["hang"])

    def test_watch(self):
        """The answer comes while the job still stands, then the command, then the signal."""
        os.mkfifo(os.path.join(self.folder, "fifo"))
        watched = [STAGEPROF, "run", "--watch=5s,kill=TERM,exec=echo $1, >> seen"]
        for how, least_s in ("fifo", 5), ("deaf", 10):
            begin = time.monotonic()
            run = how + ".zst"
            status, errors = self.run_to_end(*watched, "-o", run, "--", PYTHON, "train.py", how)
            self.assertEqual(status, 124, errors)
            self.assertGreater(time.monotonic() - begin, least_s)
            self.assertEqual(errors.count("stageprof: training stands still"), 1, errors)
            words = " ".join(errors.split())
            who = "worker 0 (pid " if how == "fifo" else "the trainer (pid "
            self.assertRegex(words, "no step has ended for .*" + re.escape(who))
            self.assertRegex(words, "is inside open of .*fifo for ")
            self.assertEqual(self.report(run=run)["verdict"]["code"], "hung")
        with open(os.path.join(self.folder, "seen")) as file:
            seen = [os.path.basename(line.rstrip(",\n")) for line in file]
        self.assertEqual(seen, ["fifo.zst", "deaf.zst"])

    def run_to_end(self, *argv):
        """A worker may outlive the command, so its output is a file. Returns status and errors."""
        with open(os.path.join(self.folder, "errors"), "w+") as file:
            process = subprocess.Popen(
                argv,
                cwd=self.folder,
                env=clean_environment(),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
            try:
                status = process.wait(60)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            file.seek(0)
            return status, file.read()

    def test_watch_of_what_moves(self):
        done = self.call(STAGEPROF, "run", "--watch=1", "--", PYTHON, "train.py", "whole")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("stands still", done.stderr)
        for wrong in "0.5", "soon", "5s,kill=9":
            done = self.call(STAGEPROF, "run", f"--watch={wrong}", "--", "true")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("[SP121]", done.stderr)

    def test_sweep(self):
        """The command goes on after a training that failed; the report names the failure."""
        sweep = "import subprocess, sys\n"
        sweep += "for how in 'whole', 'exit1': subprocess.run([sys.executable, 'train.py', how])\n"
        command = [STAGEPROF, "run", "--", PYTHON, "-c", sweep]
        done = self.call(*command, env=clean_environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        line = r"ended with success after .*; training processes that failed or were killed: 1"
        self.assertRegex(" ".join(done.stderr.split()), line)
        ends = [end["status"] for end in self.report()["ending"] if end["role"] == "trainer"]
        self.assertEqual(sorted(ends), [0, 1])

    def test_exit_without_launcher(self):
        env = clean_environment(LD_PRELOAD=scene.LIBRARY)
        self.assertEqual(self.call(PYTHON, "train.py", "exit1", env=env).returncode, 1)
        end = self.trainer(self.report())
        self.assertEqual((end["how"], end["status"]), ("exited", 1))

    def test_programs_one_after_another(self):
        """A script's first program does not end the run, which it did not see to its end."""
        run = os.path.join(self.folder, "run.zst")
        read = "open('/etc/passwd').read()"
        script = f'"$0" -c "{read}; exit(3)"; "$0" -c "{read}"; sleep 1.2; "$0" -c "{read}; exit(4)"'
        env = clean_environment(LD_PRELOAD=scene.LIBRARY, STAGEPROF_OUTPUT=run)
        subprocess.run(["sh", "-c", script, sys.executable], env=env, cwd=self.folder)
        text = subprocess.run([REPORT, run], stdout=subprocess.PIPE, text=True).stdout
        self.assertRegex(
            text, r"(?m)^ended +failed with exit status 4 after .* s; the last of 3 processes$"
        )

    def test_signal(self):
        done = self.run_it("term")
        self.assertEqual(done.returncode, -signal.SIGTERM)
        self.assertRegex(done.stderr, r"(?m)^ended +killed by SIGTERM after")
        document = self.report()
        end = self.trainer(document)
        self.assertEqual((end["how"], end["signal"]), ("signaled", signal.SIGTERM))
        self.check_judges(document)

    def test_kill_of_all(self):
        process = self.started(STAGEPROF, "run", "--", PYTHON, "train.py", "wait")
        self.wait_until_ready()
        self.assertEqual(self.trainer(self.report())["how"], "running")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.check_judges(self.wait_for_end())

    def wait_until_ready(self):
        deadline = time.monotonic() + 60
        while not os.path.exists(os.path.join(self.folder, "ready")):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_out_of_memory(self):
        group = f"/sys/fs/cgroup/memory/stageprof-test-{os.getpid()}"
        try:
            os.mkdir(group)
            self.addCleanup(os.rmdir, group)
            with open(group + "/memory.limit_in_bytes", "w") as file:
                file.write("1000000000")
        except OSError as error:
            raise unittest.SkipTest(f"no cgroup of version 1 to limit memory: {error}")
        enter = ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
        done = self.run_it("memory", before=enter)
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
        document = self.report()
        self.assertEqual(self.trainer(document)["how"], "oom-killed")
        self.check_judges(document)
        self.assertRegex(done.stderr, r"(?m)^ended +killed for lack of memory")

    def test_worker_in_open(self):
        os.mkfifo(os.path.join(self.folder, "fifo"))
        process = self.started(STAGEPROF, "run", "-q", "--", PYTHON, "train.py", "fifo")
        document = self.wait_for_hang()
        chain = document["hang"]["chain"]
        self.assertEqual([link["role"] for link in chain], ["trainer", "worker 0"])
        self.assertEqual((chain[1]["call"], chain[1]["file"]), ("open", "fifo"))
        self.assertIn("is inside open of fifo for", document["verdict"]["text"])
        chinese = self.report("--lang=zh_CN")["hang"]["chain"]
        self.assertEqual([link["role"] for link in chinese], ["trainer", "worker 0"])
        process.send_signal(signal.SIGTERM)  # the launcher passes it on, and notes the end
        process.wait()
        document = self.report()
        self.assertEqual(document["verdict"]["code"], "hung", document["verdict"]["text"])
        self.assertEqual(document["hang"]["chain"][1]["file"], "fifo")
        self.assertEqual(self.trainer(document)["signal"], signal.SIGTERM)
        os.killpg(process.pid, signal.SIGKILL)  # the worker is in open for ever

    def test_file_lock(self):
        """The worker waits for a lock that this process holds; then SIGKILL ends all."""
        path = os.path.join(self.folder, "locked")
        with open(path, "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            process = self.started(STAGEPROF, "run", "-q", "--", PYTHON, "train.py", "lock")
            self.check_file_lock(self.wait_for_hang(), path)
            self.let_the_launcher_look()
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.check_lock_text(self.wait_for_end(), path)

    def check_file_lock(self, document, path):
        link = document["hang"]["chain"][-1]
        self.assertEqual((link["role"], link["lock"], link["call"]), ("worker 0", "file", None))
        self.assertEqual((link["file_lock"], link["lock_holder_pid"]), (True, os.getpid()))
        self.assertEqual((link["lock_file"], link["lock_inferred"]), (path, False))
        self.check_lock_text(document, path)

    def let_the_launcher_look(self, run="run.zst"):
        """The launcher notes a wait that two looks see, and a killed job hung until the last look.
        It looks once a second, and later where it gets no core: each look leaves its time."""
        deadline = time.monotonic() + 90
        for _ in range(LOOKS):
            before = self.last_look(run)
            while self.last_look(run) == before:
                self.assertLess(time.monotonic(), deadline, "the launcher does not look")
                time.sleep(0.1)

    def last_look(self, run):
        (marker,) = glob.glob(os.path.join(self.folder, run, "0-run-*.zst"))
        with open(marker, "rb") as file:
            file.seek(ALIVE_AT)
            return file.read(8)

    def check_lock_text(self, document, path):
        text = f"the lock of {path}, which process {os.getpid()} ("
        self.assertIn(text, document["verdict"]["text"])

    def wait_for_end(self, run="run.zst"):
        """The report, as soon as each process that was killed is gone: workers go later."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            document = self.report(run=run)
            hows = [end["how"] for end in document["ending"]]
            if "running" not in hows and self.trainer(document)["how"] == "killed":
                return document
            time.sleep(0.1)
        raise AssertionError(document["ending"])

    def test_mutexes(self):
        """The worker waits for a mutex of another thread, which the fork copied or not."""
        processes = {}
        for how in ("mutex", "copied"):
            command = [STAGEPROF, "run", "-q", "-o", how, "--", PYTHON, "train.py", how]
            processes[how] = self.started(*command)
        for how, process in processes.items():
            document = self.wait_for_hang(how)
            self.check_mutex(document, how)
            self.let_the_launcher_look(how)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self.check_mutex_text(self.wait_for_end(how), how)

    def check_mutex_text(self, document, how):
        self.assertIn("for a mutex, which", document["verdict"]["text"])
        self.assertIn("(inferred)", document["verdict"]["text"])
        if how == "copied":
            self.assertIn("so nobody releases it", document["verdict"]["text"])

    def check_mutex(self, document, how):
        self.check_mutex_text(document, how)
        trainer, worker = document["hang"]["chain"]
        lock, holder = worker["lock"], worker["lock_holder_pid"]
        self.assertTrue(worker["lock_inferred"])
        self.assertNotEqual(worker["lock_holder_tid"], worker["tid"])
        if how == "mutex":
            self.assertEqual((lock, holder), ("mutex", worker["pid"]))
        else:
            self.assertEqual((lock, holder), ("mutex-copied-by-fork", trainer["pid"]))

    def test_kill_of_a_hung_job(self):
        """SIGKILL of all: the launcher has left the name of the file before."""
        os.mkfifo(os.path.join(self.folder, "fifo"))
        process = self.started(STAGEPROF, "run", "-q", "--", PYTHON, "train.py", "fifo")
        deadline = time.monotonic() + 90
        while not glob.glob(os.path.join(self.folder, "run.zst", "0-calls-*.zst")):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.2)
        time.sleep(5)  # a hang has four seconds; the launcher looks sooner
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        document = self.wait_for_end()
        opens = [call["file"] for call in document["in_flight"] if call["event"] == "open"]
        self.assertEqual(opens, ["fifo"])
        self.assertIn("inside open of fifo", document["verdict"]["text"])

    def test_kill_with_the_launcher(self):
        """Nobody leaves an end; the launcher has left when it last saw the command."""
        os.mkfifo(os.path.join(self.folder, "fifo"))
        process = self.started(STAGEPROF, "run", "-q", "--", PYTHON, "train.py", "alone")
        self.wait_for_hang()
        self.let_the_launcher_look()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        hung = self.wait_for_end()
        self.assertEqual(hung["verdict"]["code"], "hung", hung["verdict"]["text"])
        self.assertEqual(hung["hang"]["chain"][0]["file"], "fifo")
        after_ns = {part["part"]: part["ns"] for part in hung["life"]}["after"]
        self.assertGreaterEqual(after_ns, hung["hang"]["for_ns"] - 1_000_000)
        text = self.call(REPORT, "run.zst").stdout
        self.assertRegex(text, r"(?m)^ended +killed soon after .*, when the launcher last saw it")
        self.forget_the_last_look()
        unseen = self.wait_for_end()
        self.assertIsNone(unseen["hang"])
        seen_ns = self.trainer(hung)["at_ns"] - self.trainer(unseen)["at_ns"]
        self.assertGreaterEqual(seen_ns, hung["hang"]["for_ns"] - 1_000_000_000)
        text = self.call(REPORT, "run.zst").stdout
        self.assertRegex(text, r"(?m)^ended +killed after .*; no end was recorded")

    def forget_the_last_look(self):
        """Makes the marker one of an earlier version."""
        (marker,) = glob.glob(os.path.join(self.folder, "run.zst", "0-run-*.zst"))
        with open(marker, "r+b") as file:
            file.seek(ALIVE_AT)
            self.assertNotEqual(file.read(8), bytes(8))
            file.seek(ALIVE_AT)
            file.write(bytes(8))

    def test_killed_soon_after_a_hang_began(self):
        """Without the launcher nothing says when: a hang of a second looks like one of an hour."""
        os.mkfifo(os.path.join(self.folder, "fifo"))
        process = self.started(PYTHON, "train.py", "fifo", LD_PRELOAD=scene.LIBRARY)
        deadline = time.monotonic() + 90
        while not self.is_in_open():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.3)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        document = self.wait_for_end()
        if self.chance_explains(document):
            return
        if document["verdict"]["code"] != "hung":  # a slow machine may have taken long
            self.check_abstains(document)
        inside = "is inside open" if document["hang"] else "was inside open"
        self.assertIn(inside, document["verdict"]["text"])
        # Nobody read the file's name before: the report says so, and the remedy.
        self.assertIn("the file is not known: nobody read its name", document["verdict"]["text"])
        self.assertIn("stageprof run", document["verdict"]["text"])

    def chance_explains(self, document):
        """A worker that was put off its core in an open before may have been killed in one."""
        (call,) = [call for call in document["in_flight"] if call["event"] == "open"]
        stages = self.report("stages", f"--thread={call['tid']}", run="run.zst")["stages"]
        (thread,) = [row for row in self.report("threads")["threads"] if row["tid"] == call["tid"]]
        opens_ns = sum(row["total_ns"] for row in stages if row["stage"] in OPENS)
        return opens_ns >= thread["dur_ns"] / OPENS_RARE

    def is_in_open(self):
        if not os.path.isdir(os.path.join(self.folder, "run.zst")):
            return False
        done = self.call(REPORT, "--format=json", "run.zst")
        document = json.loads(done.stdout) if done.returncode == 0 else {"steps": {"count": 0}}
        return document["steps"]["count"] >= 29 and any(
            call["event"] == "open" and call["dur_ns"] > OPEN_NS for call in document["in_flight"]
        )

    def test_stopped(self):
        process = self.started(STAGEPROF, "run", "-q", "--", PYTHON, "train.py", "wait")
        self.wait_until_ready()
        trainer = self.trainer(self.report())["pid"]
        os.kill(trainer, signal.SIGSTOP)
        self.check_stopped()
        os.killpg(process.pid, signal.SIGSTOP)  # the launcher too
        self.check_stopped()
        os.killpg(process.pid, signal.SIGKILL)

    def check_stopped(self):
        document = self.wait_for_hang()
        self.assertEqual(self.trainer(document)["how"], "stopped")
        self.assertEqual([link["stopped"] for link in document["hang"]["chain"]], [True])
        self.assertIn("stopped by a signal", document["verdict"]["text"])

    def test_missing_rank(self):
        script = (
            "for r in 0 1; do RANK=$r WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 "
            f"MASTER_PORT={20000 + os.getpid() % 20000} {PYTHON} train.py rank & done; wait"
        )
        process = self.started(STAGEPROF, "run", "-q", "--", "sh", "-c", script)
        chain = self.wait_for_hang()["hang"]["chain"]
        self.assertEqual([link["role"] for link in chain], ["rank 0", "rank 1"])
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def test_disk_full(self):
        place = os.path.join(self.folder, "small")
        os.mkdir(place)
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", place], stderr=subprocess.DEVNULL
        )
        if mounted.returncode != 0:
            raise unittest.SkipTest("no right to mount a small file system")
        self.addCleanup(subprocess.run, ["umount", place])
        done = self.run_it("whole", output=place + "/run.zst")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^lost .*could not grow")
        document = self.report(run=place + "/run.zst")
        self.check_abstains(document)
        self.assertEqual(self.trainer(document)["status"], 0)


class GivenUp(Trained):
    """Hangs that end before the process does: the worker and the trainer leave their calls."""

    def check_hung(self, document):
        self.assertEqual(document["verdict"]["code"], "hung", document["verdict"]["text"])
        chain = document["hang"]["chain"]
        self.assertEqual([link["role"] for link in chain], ["trainer", "worker 0"])
        self.assertEqual((chain[1]["call"], chain[1]["file"]), ("open", "fifo"))

    def test_time_limit(self):
        """The loader raises, and ends its worker by SIGTERM."""
        os.mkfifo(os.path.join(self.folder, "fifo"))
        self.assertEqual(self.run_it("limit").returncode, 1)
        self.check_hung(self.report())

    def test_interrupt(self):
        """Ctrl-C: SIGINT to all processes, without the launcher."""
        os.mkfifo(os.path.join(self.folder, "fifo"))
        process = self.started(PYTHON, "train.py", "fifo", LD_PRELOAD=scene.LIBRARY)
        self.wait_for_hang()
        os.killpg(process.pid, signal.SIGINT)
        process.wait()
        self.check_hung(self.report())

    def test_exception_after_a_long_wait(self):
        """The worker worked for as long as a hang has, and its exception is no hang."""
        self.assertEqual(self.run_it("late").returncode, 1)
        verdict = self.report()["verdict"]
        self.assertEqual(verdict["code"], "cannot-tell", verdict["text"])
        self.assertIn("an exception ended its wait", verdict["text"])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--together"]:
        del sys.argv[1]
        os.environ["IMPORTS_TORCH"] = PYTHON if has_torch() else ""
        scene.main_together(4)
    scene.main()
