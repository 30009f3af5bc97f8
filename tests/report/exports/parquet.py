# SPDX-License-Identifier: Apache-2.0
"""Parquet against JSON, column by column, as each engine that is there reads it; and the questions
of docs/EXPORTS.md, which DuckDB answers.

python3 parquet.py            pyarrow
python3 parquet.py --engines  build/venv-engines: pyarrow, Polars and DuckDB; 10,000 ranks
"""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest

import runs

ENGINES = "--engines" in sys.argv
PYTHON = os.environ.get("STAGEPROF_TEST_ENGINES") or os.path.join(
    runs.ROOT, "build", "venv-engines", "bin", "python"
)
MAKE_JOB = os.environ["STAGEPROF_TEST_MAKE_JOB"]
DIVIDED = ("steps", "collectives", "stages")
LATE_NS = 2_000_000
QUESTIONS = 10


def pyarrow_rows(path):
    import pyarrow.dataset

    return pyarrow.dataset.dataset(path, partitioning="hive").to_table().to_pylist()


def polars_rows(path):
    import polars

    return polars.read_parquet(path + "/**/*.parquet", hive_partitioning=True).to_dicts()


def duckdb_rows(path):
    import duckdb

    found = duckdb.sql(f"SELECT * FROM read_parquet('{path}/**/*.parquet', hive_partitioning=true)")
    return [dict(zip(found.columns, row)) for row in found.fetchall()]


READERS = {
    name: reader
    for name, reader in (
        ("pyarrow", pyarrow_rows),
        ("polars", polars_rows),
        ("duckdb", duckdb_rows),
    )
    if importlib.util.find_spec(name)
}


def plain(value):
    """A text without what tables show escaped and JSON holds."""
    if not isinstance(value, str):
        return value
    text = re.sub(r"\\x[0-9A-F]{2}|\\u\{[0-9A-F]+\}|\ufffd", "?", value)
    return re.sub(r"\?+", "?", "".join(c if c.isprintable() else "?" for c in text))


def in_order(rows):
    rows = [{key: plain(value) for key, value in row.items()} for row in rows]
    return sorted(rows, key=lambda row: [(value is not None, value) for value in row.values()])


def rounded(ns):
    """Four digits, half of a unit goes up."""
    unit = 1
    while (ns + (unit // 2 if unit > 1 else 0)) // unit >= 10_000:
        unit *= 10
    return (ns + (unit // 2 if unit > 1 else 0)) // unit * unit


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def job(self, ranks, steps, *words):
        path = self.path("job")
        os.mkdir(path)
        subprocess.run([MAKE_JOB, path, str(ranks), str(steps), *words], check=True)
        return path

    def export(self, run, name="tables"):
        runs.report("export", "parquet", "-q", run, "-o", self.path(name))
        return self.path(name)


class Tables(Case):
    def read(self, folder, table):
        """Rows, which are the same for all engines."""
        path = os.path.join(folder, table)
        if not any(files for _, _, files in os.walk(path)):
            return []
        told = [in_order(reader(path)) for reader in READERS.values()]
        for name, rows in zip(READERS, told):
            keys = sorted(rows[0]) if rows else []
            self.assertEqual(keys, sorted(told[0][0]) if told[0] else [], name)
            self.assertEqual(
                in_order([{key: row[key] for key in keys} for row in rows]),
                in_order([{key: row[key] for key in keys} for row in told[0]]),
                (table, name),
            )
        return told[0]

    def json(self, run, view):
        return runs.json.loads(runs.report(view, "--format=json", run))

    def check_steps(self, folder, run):
        told = self.json(run, "steps")
        begin_ns = told["run"]["begin_realtime_ns"]
        found = {(row["pid"], row["step"]): row for row in self.read(folder, "steps")}
        self.assertEqual(len(found), len(told["steps"]))
        for step in told["steps"]:
            row = found[step["pid"], step["index"]]
            self.assertEqual(row["start_ns"], (begin_ns + step["start_ns"]) // 1000 * 1000)
            self.assertEqual(row["wall_ns"], rounded(step["wall_ns"]))
            for part, ns in step["parts"].items():
                self.assertEqual(row[part + "_ns"], ns if ns is None else rounded(ns), part)
            self.assertEqual(
                set(row) - {"rank", "host", "pid", "step", "start_ns", "wall_ns"},
                {part + "_ns" for part in step["parts"]},
            )

    def check_stages(self, folder, run):
        told = {row["stage"]: row for row in self.json(run, "stages")["stages"]}
        rows, bins = self.read(folder, "stages"), self.read(folder, "stage_bins")
        self.assertEqual({row["stage"] for row in rows}, set(told))
        for stage, row in told.items():
            mine = [one for one in rows if one["stage"] == stage]
            for key in ("calls", "total_ns", "errors"):
                self.assertEqual(sum(one[key] for one in mine), row[key], (stage, key))
            self.assertEqual(max(one["max_ns"] for one in mine), row["max_ns"])
            its = [one for one in bins if one["stage"] == stage]
            self.assertEqual(sum(one["calls"] for one in its), row["calls"])
            last = max(its, key=lambda one: one["from_ns"])
            self.assertTrue(last["from_ns"] <= row["max_ns"] < last["to_ns"], (last, row))
            self.assertTrue(all(one["from_ns"] < one["to_ns"] for one in its))

    def check_threads(self, folder, run):
        told = self.json(run, "threads")
        begin_ns = told["run"]["begin_realtime_ns"]
        mine = [
            {key: row[key] for key in row if key not in ("rank", "ended")}
            for row in self.read(folder, "threads")
        ]
        keys = [key for key in mine[0]] if mine else []
        theirs = [
            {key: row[key] + begin_ns if key == "start_ns" else row[key] for key in keys}
            for row in told["threads"]
        ]
        self.assertEqual(in_order(mine), in_order(theirs))

    def check_rows(self, folder, run, table, keys=None):
        told = self.json(run, table)[table]
        mine = self.read(folder, table)
        self.assertEqual(len(mine), len(told))
        keys = keys or (list(mine[0]) if mine else [])
        self.assertEqual(
            in_order([{key: row[key] for key in keys} for row in mine]),
            in_order([{key: row[key] for key in keys} for row in told]),
        )

    def check(self, run, name="tables"):
        folder = self.export(run, name)
        self.check_steps(folder, run)
        self.check_stages(folder, run)
        self.check_threads(folder, run)
        self.check_rows(folder, run, "processes", ["host", "pid", "ppid", "exe"])
        self.check_rows(folder, run, "ranks")
        self.check_rows(folder, run, "files")
        for table in os.listdir(folder):
            found = [name for _, _, names in os.walk(os.path.join(folder, table)) for name in names]
            self.assertTrue(found, f"{table}: no file, so a query finds no table")
        return folder

    def test_runs(self):
        for name in runs.NAMES:
            with self.subTest(name):
                self.check(runs.run(name), name)

    def test_job(self):
        """Ranks are folders; digests give the same bytes."""
        job = self.job(64, 200, f"rank,5,50,forward,{LATE_NS}")
        folder = self.check(job)
        rows = self.read(folder, "collectives")
        self.assertEqual(len(rows), 64 * 200)
        first = [row for row in rows if row["step"] == 100]
        self.assertEqual(min(first, key=lambda row: row["stay_ns"])["rank"], 5)
        for table in DIVIDED:
            self.assertEqual(
                sorted(os.listdir(os.path.join(folder, table))),
                sorted(f"rank={rank}" for rank in range(64)),
            )
        digest = self.path("job.spd")
        runs.report("digest", job, "-o", digest)
        again = self.export(digest, "again")
        differ = subprocess.run(["diff", "-r", folder, again], stdout=subprocess.PIPE, text=True)
        self.assertEqual(differ.stdout, f"Only in {folder}: files\n")

    def test_row_groups(self):
        """More rows of a rank than a row group holds."""
        job = self.job(2, 17_000)
        self.check_steps(self.export(job), job)

    def test_folder(self):
        """Whole or not at all, and never in the place of anything."""
        run = runs.run("golden")
        runs.report("export", "parquet", run, status=2)
        folder = self.export(run)
        before = sorted(os.walk(folder))
        for words in ((), ("--force",)):
            runs.report("export", "parquet", run, "-o", folder, *words, status=1)
        self.assertEqual(sorted(os.walk(folder)), before)
        self.assertEqual(os.listdir(self.folder.name), ["tables"])
        runs.report("export", "parquet", run, "-o", self.path("no/where"), status=1)
        limited = f'ulimit -f 1; exec {runs.REPORT} export parquet "$0" -o "$1"'
        job = self.job(2, 2000)
        done = subprocess.run(["bash", "-c", limited, job, self.path("small")], capture_output=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("small", os.listdir(self.folder.name))


def questions():
    """The SQL of docs/EXPORTS.md, in order."""
    with open(os.path.join(runs.ROOT, "docs", "EXPORTS.md")) as file:
        text = file.read().split("\n## Parquet\n")[1].split("\n## ")[0]
    return re.findall(r"```sql\n(.*?)```", text, re.S)


@unittest.skipUnless("duckdb" in READERS, "no DuckDB")
class Questions(Case):
    """A job with a slow rank, a slow host and a slow local rank."""

    def check_answers(self, ranks, steps):
        import duckdb

        half = steps // 2
        job = self.job(
            ranks,
            steps,
            f"rank,5,{half},forward,{2 * LATE_NS}",
            f"host,3,0,backward,{LATE_NS}",
            f"slot,6,0,loader,{LATE_NS // 2}",
        )
        os.chdir(self.folder.name)
        self.addCleanup(os.chdir, "/")
        os.rename(job, self.path("traces"))
        self.export(self.path("traces"), "job")
        told = [duckdb.sql(sql).fetchall() for sql in questions()]
        self.assertEqual(len(told), QUESTIONS)
        last, late, since, account, hosts, slots, walls, longest, ends, stages = told
        self.assertEqual(last[0], (5, half))
        self.assertEqual(late[0][:3], (5, "node-0000", "forward"))
        self.assertLessEqual(abs(late[0][4] - half), 1)
        before, after = [row for row in since if row[0] < half], since[-1]
        self.assertTrue(all(abs(row[1] - row[2]) < 0.3 for row in before[:-1]), since)
        self.assertAlmostEqual(after[1] - after[2], 2 * LATE_NS / 1e6, delta=0.3)
        self.assertEqual([row[0] for row in account][:2], ["backward", "forward"])
        self.assertEqual(hosts[0][0], "node-0003")
        self.assertEqual(slots[0][0], 6)
        self.assertEqual(len(walls), ranks)
        self.assertEqual(len(longest), 10)
        self.assertEqual(ends, [])
        self.assertEqual([row[0] for row in stages], ["range"])

    def test_ordinary(self):
        """Each question has an answer, perhaps an empty one, where no process has a rank."""
        import duckdb

        for name in runs.NAMES:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                runs.report("export", "parquet", "-q", runs.run(name), "-o", folder + "/job")
                os.chdir(folder)
                told = [duckdb.sql(sql).fetchall() for sql in questions()]
                os.chdir("/")
                self.assertEqual(len(told), QUESTIONS)
                self.assertTrue(told[-1], "stages")
                if name == "real":
                    self.assertTrue(told[3] and told[6] and told[7], told)

    def test_many_ranks(self):
        self.check_answers(1024, 40)

    @unittest.skipUnless(ENGINES, "nightly")
    def test_ten_thousand_ranks(self):
        self.check_answers(10_000, 20)


if __name__ == "__main__":
    if ENGINES and sys.executable != PYTHON:
        if not os.path.exists(PYTHON):
            print("skipped: no build/venv-engines: scripts/test --nightly makes it")
            sys.exit(77)
        os.execv(PYTHON, [PYTHON, "-B", *sys.argv])
    if not READERS:
        print("skipped: no pyarrow")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
