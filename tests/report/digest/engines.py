# SPDX-License-Identifier: Apache-2.0
"""Digests made and merged by engines that clusters have give the bytes of one machine: Open MPI's
mpirun, and Dask, of which a worker is killed in the middle.

Dask is that of build/venv-engines (scripts/requirements-engines.txt, which scripts/test --nightly
installs), or of STAGEPROF_TEST_ENGINES.
"""

import os
import pty
import shutil
import subprocess
import sys
import unittest

import jobs
from jobs import bytes_of, digest, ranks_of, stragglers

NODES = jobs.Job.RANKS // jobs.RANKS_A_HOST
CLIENT = os.path.join(jobs.ROOT, "packaging", "clusters", "dask_digest.py")
PYTHON = os.environ.get("STAGEPROF_TEST_ENGINES") or os.path.join(
    jobs.ROOT, "build", "venv-engines", "bin", "python"
)
SECONDS = 120


def has_dask():
    command = [PYTHON, "-c", "import distributed"]
    return os.path.exists(PYTHON) and subprocess.run(command, capture_output=True).returncode == 0


class Engines(jobs.Job):
    def check(self, path):
        self.assertEqual(bytes_of(path), bytes_of(self.whole))
        self.assertEqual(stragglers(ranks_of(path)), [5])

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_mpirun(self):
        """Each task digests the run of its node, as docs/DIGEST.md says."""
        task = (
            'n=$OMPI_COMM_WORLD_RANK; exec "$0" digest "$1/node-$n" -o "$1/mpi-$n.spd"',
            jobs.REPORT,
            self.folder.name,
        )
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(NODES)]
        subprocess.run([*command, "sh", "-c", *task], check=True, timeout=SECONDS)
        path = self.path("mpi.spd")
        digest(path, *[self.path(f"mpi-{n}.spd") for n in range(NODES)])
        self.check(path)

    def dask(self, name, *words, status=0, report=jobs.REPORT, runs=None):
        path = self.path(name)
        command = [PYTHON, CLIENT, f"--report={report}", "--workers=3", "--fan-in=3", *words]
        done = subprocess.run(
            [*command, *(runs or self.runs), "-o", path],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=SECONDS,
        )
        self.assertEqual(done.returncode, status, done.stderr)
        return path, done.stderr

    @unittest.skipUnless(has_dask(), "no Dask")
    def test_dask(self):
        path, said = self.dask("dask.spd")
        self.assertEqual(said, "")
        self.check(path)

    @unittest.skipUnless(has_dask(), "no Dask")
    def test_dask_with_a_killed_worker(self):
        """The nth call of stageprof-report kills the worker that made it: the first digest, one in
        the middle, and a merge."""
        for nth in (1, NODES - 1, NODES + 2):
            calls = self.path(f"calls-{nth}")
            os.mkdir(calls)
            script = self.path(f"report-{nth}.sh")
            with open(script, "w") as file:
                file.write(
                    "#!/bin/bash\n"
                    f'[[ $1 == digest ]] || exec {jobs.REPORT} "$@"\n'
                    f"for ((i = 1; ; i++)); do mkdir {calls}/$i 2> /dev/null && break; done\n"
                    f"(( i != {nth} )) || {{ kill -KILL $PPID; exit 1; }}\n"
                    f'exec {jobs.REPORT} "$@"\n'
                )
            os.chmod(script, 0o755)
            path, _ = self.dask(f"killed-{nth}.spd", report=script)
            self.check(path)
            self.assertGreater(len(os.listdir(calls)), NODES + nth // NODES)

    @unittest.skipUnless(has_dask(), "no Dask")
    def test_dask_without_a_run(self):
        missing = self.path("missing")
        path, said = self.dask("rest.spd", runs=[*self.runs, missing], status=1)
        self.assertIn(f"{missing}: No such file", said)
        self.assertIn(f"{missing}: not digested", said)
        self.check(path)
        told = self.dask("rest.spd", status=1)[1]
        self.assertIn("exists; --force replaces it", told)

    @unittest.skipUnless(has_dask(), "no Dask")
    def test_dask_progress(self):
        first, second = pty.openpty()
        command = [PYTHON, CLIENT, f"--report={jobs.REPORT}", "--workers=2", *self.runs]
        done = subprocess.Popen([*command, "-o", self.path("bar.spd")], stderr=second)
        os.close(second)
        shown = b""
        try:
            while part := os.read(first, 4096):
                shown += part
        except OSError:  # the other end is closed
            pass
        os.close(first)
        self.assertEqual(done.wait(SECONDS), 0)
        self.assertIn(f"[{'#' * 30}] {NODES + 1} of {NODES + 1}\r\n".encode(), shown)


if __name__ == "__main__":
    if not has_dask() and not shutil.which("mpirun"):
        print("skipped: neither Dask nor mpirun")
        sys.exit(77)
    unittest.main()
