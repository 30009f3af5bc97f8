# SPDX-License-Identifier: Apache-2.0
"""Ranks of real jobs over gloo: the planted straggler is named, and what it is slow in.

python3 ranks.py            two ranks, by torchrun, and by hand with a run for each, as nodes have
python3 ranks.py --nightly  also four ranks, and a job that has no straggler
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import unittest

import training

PYTHON = training.interpreter("torch.distributed.run")
TRAINER = os.path.join(training.TRAINERS, "data_parallel.py")
SLOW_MS = 40
NIGHTLY = "--nightly" in sys.argv


def start(command, run, **variables):
    return subprocess.Popen(
        [PYTHON, *command],
        env={**training.environment(True, run, {}), **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def wait(processes):
    for process in processes:
        errors = process.communicate(timeout=200)[1]
        if process.returncode != 0:
            raise AssertionError(errors.decode())


def job(run, ranks, *arguments):
    """A job by torchrun, which is recorded too: all ranks in one run."""
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    wait([start([*launcher, TRAINER, "--epochs=1", "--steps=30", *arguments], run)])


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def job_by_hand(runs, *arguments):
    """A run for each rank, as each node of a cluster leaves one."""
    job = {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "WORLD_SIZE": str(len(runs)),
    }
    command = [TRAINER, "--epochs=1", "--steps=30", *arguments]
    wait(
        [
            start(command, run, RANK=str(rank), LOCAL_RANK=str(rank), **job)
            for rank, run in enumerate(runs)
        ]
    )


def ranks_of(*runs, form="json"):
    command = [os.environ["STAGEPROF_TEST_REPORT"], "ranks", "--format=" + form, *runs]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return json.loads(done) if form == "json" else done.decode()


def account_of(run, pid):
    command = [os.environ["STAGEPROF_TEST_REPORT"], "--format=json", f"--process={pid}", run]
    summary = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return {row["part"]: row for row in summary["account"]}


class Jobs(unittest.TestCase):
    def check_straggler(self, found, world, slow, part):
        rows = found["ranks"]
        self.assertEqual([row["rank"] for row in rows], list(range(world)))
        self.assertEqual([row["local_rank"] for row in rows], list(range(world)))
        self.assertEqual({row["world_size"] for row in rows}, {world})
        self.assertEqual({row["steps"] for row in rows}, {30})
        self.assertTrue(found["comparison"]["by_collectives"], found["comparison"])
        self.assertEqual([row["rank"] for row in rows if row["straggler"] == "yes"], [slow], rows)
        self.assertEqual(rows[slow]["straggles_in"], part)
        behind = rows[slow]["behind_ns_p50"] / 1e6
        print(
            f"{world} ranks: rank {slow} sleeps {SLOW_MS} ms a step in its {part}; "
            f"told to be {behind:.1f} ms behind"
        )
        self.assertGreater(behind, 0.8 * SLOW_MS)
        self.assertLess(behind, 2 * SLOW_MS)

    def check_waits(self, run, rows, waiting):
        """A rank that waits for the other's gradients waits in communication, and not in
        backward."""
        accounts = [account_of(run, row["pid"]) for row in rows]
        for row, account in zip(rows, accounts):
            step_ms = account["grad_sync"]["ns"] / row["steps"] / 1e6
            print(f"rank {row['rank']}: {step_ms:.1f} ms of communication a step")
            if row["rank"] == waiting:
                self.assertGreater(step_ms, 0.6 * SLOW_MS)
                self.assertEqual(account["grad_sync"]["source"], "observed")
                self.assertLess(account["backward"]["ns"] / row["steps"] / 1e6, 0.5 * SLOW_MS)
            else:
                self.assertLess(step_ms, 0.5 * SLOW_MS)

    def test_a_run_for_each_rank(self):
        with tempfile.TemporaryDirectory() as folder:
            runs = [os.path.join(folder, f"run-{rank}.zst") for rank in range(2)]
            job_by_hand(runs, "--slow=loader", "--slow-rank=1", f"--slow-ms={SLOW_MS}")
            self.check_straggler(ranks_of(*runs), 2, 1, "loader_wait")
            text = ranks_of(*runs, form="table")
            self.assertIn("straggler  rank 1 (", text)
            self.assertIn("in input wait", text)
            self.assertIn("one host, one clock", text)
            # One of them alone says that there is nothing to compare it with.
            self.assertIsNone(ranks_of(runs[0])["comparison"])

    def test_torchrun(self):
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run.zst")
            job(run, 2, "--slow=forward", "--slow-rank=0", f"--slow-ms={SLOW_MS}")
            found = ranks_of(run)
            self.check_straggler(found, 2, 0, "forward")
            self.check_waits(run, found["ranks"], 1)

    @unittest.skipUnless(NIGHTLY, "nightly")
    def test_one_of_four(self):
        with tempfile.TemporaryDirectory() as folder:
            run = os.path.join(folder, "run.zst")
            job(run, 4, "--slow=loader", "--slow-rank=2", f"--slow-ms={SLOW_MS}")
            self.check_straggler(ranks_of(run), 4, 2, "loader_wait")

    @unittest.skipUnless(NIGHTLY, "nightly")
    def test_none_is_slow(self):
        # A rank for each of two cores; a neighbour on one of them is a straggler's cause, too: two
        # tries.
        for _ in range(2):
            with tempfile.TemporaryDirectory() as folder:
                run = os.path.join(folder, "run.zst")
                job(run, 2)
                found = ranks_of(run)
            named = [row["rank"] for row in found["ranks"] if row["straggler"] == "yes"]
            if not named:
                return
        self.fail(f"healthy ranks accused: {found}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
