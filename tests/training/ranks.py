# SPDX-License-Identifier: Apache-2.0
"""Ranks of real jobs over gloo: the planted straggler is named, and what it is slow in.

The truth is the trainer's own timer around each backward, in the same run: other programs on the
cores change both.

python3 ranks.py            two ranks, by torchrun, and by hand with a run for each, as nodes have
python3 ranks.py --nightly  also four and eight ranks, a job that has no straggler, and one that
                            Dask digests (build/venv-engines, or STAGEPROF_TEST_ENGINES)
"""

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import unittest

import training

PYTHON = training.interpreter("torch.distributed.run")
TRAINER = os.path.join(training.TRAINERS, "data_parallel.py")
SLOW_MS = 40
SHARE = 0.05
SHORT_MS = 1  # of other waits in a backward: shorter than 0.1 ms each, pages, the interpreter
TRIES = 3
ARRIVAL_MS = 3  # from the begin of a backward to its last collective, on a loaded machine
NIGHTLY = "--nightly" in sys.argv
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DASK_CLIENT = os.path.join(ROOT, "packaging", "clusters", "dask_digest.py")
ENGINES = os.environ.get("STAGEPROF_TEST_ENGINES") or os.path.join(
    ROOT, "build", "venv-engines", "bin", "python"
)


def timed(folder):
    return f"--slow-ms={SLOW_MS}", f"--timers={folder}"


def start(command, run, **variables):
    """run: None where nothing is to be recorded."""
    return subprocess.Popen(
        [PYTHON, *command],
        env={**training.environment(run is not None, run, {}), **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


class EndedByGloo(Exception):
    """PyTorch's threads of gloo end one in a hundred processes on a loaded machine so, with and
    without the recorder."""


def wait(processes):
    errors = [process.communicate(timeout=200)[1].decode() for process in processes]
    failed = [text for process, text in zip(processes, errors) if process.returncode != 0]
    if any("terminate called without an active exception" in text for text in failed):
        raise EndedByGloo
    if failed:
        raise AssertionError("".join(failed))


def ends_by_gloo(job, runs):
    for run in runs:
        shutil.rmtree(run, ignore_errors=True)
    try:
        job()
    except EndedByGloo:
        return True
    return False


def again(job, *runs):
    """Does the job until gloo does not end it. Where it ends all tries, the same job is done
    without the recorder as often: only if that never ends so, the recorder is to blame."""
    if not all(ends_by_gloo(lambda: job(*runs), runs) for _ in range(TRIES)):
        return
    if any(ends_by_gloo(lambda: job(*[None] * len(runs)), runs) for _ in range(TRIES)):
        raise unittest.SkipTest("gloo ends these jobs without the recorder, too")
    raise AssertionError(f"{TRIES} jobs ended by gloo, and none without the recorder")


def job(run, ranks, *arguments):
    """A job by torchrun, which is recorded too: all ranks in one run."""
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    command = [*launcher, TRAINER, "--epochs=1", "--steps=30", *arguments]
    again(lambda where: wait([start(command, where)]), run)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def job_by_hand(runs, *arguments):
    """A run for each rank, as each node of a cluster leaves one."""
    command = [TRAINER, "--epochs=1", "--steps=30", *arguments]
    job = {"MASTER_ADDR": "127.0.0.1", "WORLD_SIZE": str(len(runs))}

    def ranks(*where):
        port = str(free_port())
        wait(
            [
                start(command, run, RANK=str(rank), LOCAL_RANK=str(rank), MASTER_PORT=port, **job)
                for rank, run in enumerate(where)
            ]
        )

    again(ranks, *runs)


def ranks_of(*runs, form="json"):
    command = [os.environ["STAGEPROF_TEST_REPORT"], "ranks", "--format=" + form, *runs]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return json.loads(done) if form == "json" else done.decode()


def timers_of(folder, world):
    """For each rank: begin, wall, processor time and time without a core of each backward."""
    timers = []
    for rank in range(world):
        with open(os.path.join(folder, f"rank-{rank}.json")) as file:
            timers.append(json.load(file))
    return timers


def behind_ms(timers, slow):
    """How much later than the others a rank comes to its collective, in the middle of all steps:
    later than the begin of its backward by the time for which it has no core there, or less."""
    others = [timer for rank, timer in enumerate(timers) if rank != slow]
    least, most = [], []
    for own, *steps in zip(timers[slow], *others):
        late = own[0] - statistics.median(step[0] for step in steps)
        least.append(late - max(step[3] for step in steps))
        most.append(late + own[3])
    return statistics.median(least) / 1e6, statistics.median(most) / 1e6


def account_of(run, pid):
    command = [os.environ["STAGEPROF_TEST_REPORT"], "--format=json", f"--process={pid}", run]
    summary = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return {row["part"]: row for row in summary["account"]}


def parts_of(run, pid):
    report = os.environ["STAGEPROF_TEST_REPORT"]
    command = [report, "steps", "--format=json", f"--process={pid}", run]
    steps = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)["steps"]
    return [{key: ns or 0 for key, ns in step["parts"].items()} for step in steps]


def median_ms(values):
    return statistics.median(values) / 1e6


class Jobs(unittest.TestCase):
    def check_straggler(self, found, folder, slow, part):
        rows = found["ranks"]
        timers = timers_of(folder, len(rows))
        self.assertEqual([row["rank"] for row in rows], list(range(len(timers))))
        self.assertEqual([row["local_rank"] for row in rows], list(range(len(timers))))
        self.assertEqual({row["world_size"] for row in rows}, {len(timers)})
        self.assertEqual({row["steps"] for row in rows}, {30})
        self.assertTrue(found["comparison"]["by_collectives"], found["comparison"])
        self.assertEqual([row["rank"] for row in rows if row["straggler"] == "yes"], [slow], rows)
        self.assertEqual(rows[slow]["straggles_in"], part)
        behind = rows[slow]["behind_ns_p50"] / 1e6
        least, most = behind_ms(timers, slow)
        print(
            f"{len(rows)} ranks: rank {slow} sleeps {SLOW_MS} ms a step in its {part} and is "
            f"{least:.1f} to {most:.1f} ms behind; told to be {behind:.1f} ms behind"
        )
        self.assertGreaterEqual(behind, (1 - SHARE) * least - ARRIVAL_MS)
        self.assertLessEqual(behind, (1 + SHARE) * most + ARRIVAL_MS)

    def check_waits(self, run, rows, folder):
        """A rank that waits for the other's gradients waits in communication, and not in
        backward. A thread that wakes without a core goes on to wait for one."""
        for row, timer in zip(rows, timers_of(folder, len(rows))):
            account = account_of(run, row["pid"])
            parts = parts_of(run, row["pid"])
            told = median_ms(step["grad_sync"] for step in parts)
            both = median_ms(step["grad_sync"] + step["backward"] for step in parts)
            wall = median_ms(step[1] for step in timer)
            least = median_ms(step[1] - step[2] - step[3] for step in timer)
            most = median_ms(step[1] - step[2] for step in timer)
            print(
                f"rank {row['rank']}: {told:.2f} ms of communication a step, of {least:.2f} to "
                f"{most:.2f} ms without a core; with backward {both:.2f} ms of {wall:.2f} ms"
            )
            self.assertEqual(account["grad_sync"]["source"], "observed")
            # Short waits may be over before gloo's thread has a core to mark them.
            if least > SLOW_MS / 2:
                self.assertGreaterEqual(told, (1 - SHARE) * least - SHORT_MS)
            self.assertLessEqual(told, (1 + SHARE) * most + SHORT_MS)
            self.assertLessEqual(abs(both - wall), SHARE * wall + SHORT_MS)

    def test_a_run_for_each_rank(self):
        with tempfile.TemporaryDirectory() as folder:
            runs = [os.path.join(folder, f"run-{rank}.zst") for rank in range(2)]
            job_by_hand(runs, "--slow=loader", "--slow-rank=1", *timed(folder))
            self.check_straggler(ranks_of(*runs), folder, 1, "loader_wait")
            text = ranks_of(*runs, form="table")
            self.assertIn("straggler  rank 1 (", text)
            self.assertIn("in input wait", text)
            self.assertIn("one host, one clock", text)
            # One of them alone says that there is nothing to compare it with.
            self.assertIsNone(ranks_of(runs[0])["comparison"])

    def test_torchrun(self):
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run.zst")
            job(run, 2, "--slow=forward", "--slow-rank=0", *timed(folder))
            found = ranks_of(run)
            self.check_straggler(found, folder, 0, "forward")
            self.check_waits(run, found["ranks"], folder)

    def check_digest(self, run):
        """The view of the run's digest is that of the run."""
        path = run + ".spd"
        subprocess.run([os.environ["STAGEPROF_TEST_REPORT"], "digest", run, "-o", path], check=True)
        for form in ("json", "table"):
            self.assertEqual(ranks_of(path, form=form), ranks_of(run, form=form))

    @unittest.skipUnless(NIGHTLY, "nightly")
    def test_one_of_four(self):
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run.zst")
            job(run, 4, "--slow=loader", "--slow-rank=2", *timed(folder))
            self.check_straggler(ranks_of(run), folder, 2, "loader_wait")
            self.check_digest(run)

    @unittest.skipUnless(NIGHTLY, "nightly")
    def test_one_of_eight(self):
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run.zst")
            job(run, 8, "--slow=forward", "--slow-rank=5", *timed(folder))
            self.check_straggler(ranks_of(run), folder, 5, "forward")
            self.check_digest(run)

    @unittest.skipUnless(NIGHTLY and os.path.exists(ENGINES), "nightly; needs build/venv-engines")
    def test_dask(self):
        """Workers of Dask digest the runs of four ranks, one of them slow, as one machine does."""
        report = os.environ["STAGEPROF_TEST_REPORT"]
        with tempfile.TemporaryDirectory() as folder:
            runs = [os.path.join(folder, f"run-{rank}.zst") for rank in range(4)]
            job_by_hand(runs, "--slow=forward", "--slow-rank=3", *timed(folder))
            by_dask, by_one = (os.path.join(folder, name) for name in ("dask.spd", "one.spd"))
            client = [ENGINES, DASK_CLIENT, f"--report={report}", "--workers=2", "--fan-in=2"]
            subprocess.run([*client, *runs, "-o", by_dask], check=True, timeout=200)
            subprocess.run([report, "digest", *runs, "-o", by_one], check=True)
            with open(by_dask, "rb") as one, open(by_one, "rb") as other:
                self.assertEqual(one.read(), other.read())
            self.check_straggler(ranks_of(by_dask), folder, 3, "forward")
            self.assertEqual(ranks_of(by_dask, form="table"), ranks_of(*runs, form="table"))

    @unittest.skipUnless(NIGHTLY, "nightly")
    def test_none_is_slow(self):
        """A rank for each of two cores, none of them slow by itself. A neighbour on a core makes a
        rank late: one that is named was late by its own timers, too."""
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run.zst")
            job(run, 2, *timed(folder))
            rows = ranks_of(run)["ranks"]
            timers = timers_of(folder, len(rows))
        for row in rows:
            if row["straggler"] == "no":
                continue
            behind = row["behind_ns_p50"] / 1e6
            _, most = behind_ms(timers, row["rank"])
            print(f"rank {row['rank']}: told to be {behind:.1f} ms behind, at most {most:.1f}")
            self.assertLessEqual(behind, (1 + SHARE) * most + ARRIVAL_MS, rows)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
