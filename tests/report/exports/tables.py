# SPDX-License-Identifier: Apache-2.0
"""SQLite, Markdown and CSV against JSON; and what hostile names become in them."""

import csv
import io
import os
import re
import sqlite3
import subprocess
import tempfile
import unittest

import runs

MAIN = {
    "stages": "stages",
    "threads": "threads",
    "processes": "processes",
    "files": "files",
    "info": "input_files",
}
NOT_STORED = {"html", "compare"}


def views():
    with open(os.path.join(runs.ROOT, "analyzer", "views", "views.def")) as file:
        return re.findall(r"^SP_VIEW(?:_BY)?\((\w+)", file.read(), re.M)


class Database:
    def __init__(self, name):
        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, "run.sqlite")
        runs.report("export", "sqlite", runs.run(name), "-o", path)
        self.db = sqlite3.connect(path)
        self.db.row_factory = sqlite3.Row

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.db.close()
        self.folder.cleanup()

    def rows(self, sql):
        return [dict(row) for row in self.db.execute(sql)]


class Tables(unittest.TestCase):
    def database(self, name):
        with Database(name) as db:
            self.assertEqual(db.rows("PRAGMA integrity_check"), [{"integrity_check": "ok"}])
            sums = db.rows(
                "SELECT s.name, count(*) calls, sum(coalesce(e.inside_ns, e.dur_ns)) ns FROM event e"
                " JOIN stage s ON s.id = e.stage_id GROUP BY 1"
            )
            self.assertEqual(
                {s["name"]: runs.Sum(s["calls"], s["ns"]) for s in sums}, runs.stages(name)
            )
            self.assertEqual(
                {r["name"] for r in db.rows("SELECT name FROM sqlite_master WHERE type = 'view'")},
                set(views()) - NOT_STORED,
            )
            for view, key in MAIN.items():
                self.compare(db.rows(f"SELECT * FROM {view}"), runs.view(name, view)[key])
            self.compare(db.rows("SELECT * FROM dump"), runs.view(name, "dump")["events"])
            run = runs.view(name, "stages")["run"]
            told = {r["key"]: r["value"] for r in db.rows("SELECT * FROM run")}
            for key in (
                "events_recorded",
                "events_lost",
                "read_bytes",
                "written_bytes",
                "begin_realtime_ns",
            ):
                self.assertEqual(told[key], run[key])
            for view in set(views()) - NOT_STORED:
                db.rows(f"SELECT * FROM {view}")

    def compare(self, stored, told):
        """Numbers are the same; texts are where nothing had to be escaped."""
        self.assertEqual(len(stored), len(told))
        for a, b in zip(stored, told):
            for key, value in b.items():
                if isinstance(value, float):
                    self.assertAlmostEqual(a[key], value, places=5)
                elif not isinstance(value, (str, dict)):
                    self.assertEqual(a[key], value, key)
                elif isinstance(value, str) and value.isprintable() and "\ufffd" not in value:
                    self.assertEqual(a[key], value)

    def test_sqlite_real(self):
        self.database("real")

    def test_sqlite_killed(self):
        self.database("killed")

    def test_sqlite_golden(self):
        self.database("golden")

    def test_sqlite_gpu(self):
        """Each table of the views of the GPU, row for row; and its work, tied to the stream that it
        ran on."""
        self.database("golden_gpu")
        with Database("golden_gpu") as db:
            tables = {
                ("kernels", "kernels"): "kernels",
                ("kernels", "devices"): "report_kernels_devices",
                ("cuda", "parts"): "cuda",
                ("cuda", "streams"): "report_cuda_streams",
                ("cuda", "memory"): "report_cuda_memory",
                ("cuda", "memory_steps"): "report_cuda_memory_steps",
                ("cuda", "allocations"): "report_cuda_allocations",
                ("modules", "modules"): "modules",
            }
            for (view, key), table in tables.items():
                told = runs.view("golden_gpu", view)[key]
                self.assertTrue(told, key)
                self.compare(db.rows(f"SELECT * FROM {table}"), told)
            works = db.rows(
                "SELECT l.text, e.device, e.gpu_stream, count(*) calls, sum(e.dur_ns) ns FROM event e"
                " JOIN label l ON l.id = e.label_id WHERE e.device IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 5 DESC"
            )
            rows = runs.view("golden_gpu", "kernels")["kernels"]
            self.assertEqual(
                [(w["text"], w["device"], w["gpu_stream"], w["calls"], w["ns"]) for w in works],
                [(r["symbol"], 0, 7, r["calls"], r["total_ns"]) for r in rows],
            )
            self.assertEqual(
                db.rows("SELECT DISTINCT correlation FROM event WHERE device = 0"),
                [{"correlation": 1}],
            )

    def test_sqlite_hostile(self):
        self.database("hostile")
        with Database("hostile") as db:
            texts = " ".join(r["path"] for r in db.rows("SELECT path FROM file"))
            texts += " ".join(r["text"] for r in db.rows("SELECT text FROM label"))
            self.assertIn("DROP TABLE event", texts)
            for what, bad in runs.FORBIDDEN.items():
                self.assertNotIn(bad, texts.encode(), what)

    def test_command_can_be_pasted(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [runs.REPORT, "export", "sqlite", runs.run("golden"), "-o", "-a 'b\"$x.db"],
                cwd=folder,
                stderr=subprocess.PIPE,
                check=True,
            )
            self.assertEqual(os.listdir(folder), ["-a 'b\"$x.db"])
            command = done.stderr.decode().split("): ", 1)[1]
            if not any(
                os.access(os.path.join(p, "sqlite3"), os.X_OK)
                for p in os.environ["PATH"].split(":")
            ):
                self.skipTest("no sqlite3")
            out = subprocess.run(
                ["sh", "-c", command], cwd=folder, stdout=subprocess.PIPE, check=True
            ).stdout
            self.assertIn(b"file_read", out)

    def test_markdown(self):
        """Each row has the cells of its head, and no name means anything."""
        for name in ("hostile", "golden", "real"):
            for view in set(views()) - NOT_STORED - {"dump"} | (
                {"dump"} if name != "real" else set()
            ):
                text = runs.report(view, "--format=md", runs.run(name))
                for what, bad in runs.FORBIDDEN.items():
                    self.assertNotIn(bad, text, what)
                self.rows(text.decode(), view)

    def rows(self, text, view):
        cells, heads = None, 0
        for line in text.split("\n"):
            bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", line)
            if not line.startswith("| "):
                cells = cells if line.startswith("|:") or line.startswith("|-") else None
                continue
            self.assertNotRegex(bare, r"[<>`*\[\]~&#@\\]", view)
            self.assertNotRegex(bare, r"https?://|www\.", view)
            cells = cells or bare.count("|")
            heads += 1
            self.assertEqual(bare.count("|"), cells, line)
        self.assertTrue(heads or "|" not in text)

    def test_csv(self):
        for name in ("hostile", "golden"):
            for view in set(views()) - NOT_STORED:
                text = runs.report(view, "--format=csv", runs.run(name))
                for what, bad in runs.FORBIDDEN.items():
                    self.assertNotIn(bad, text, what)
                rows = list(csv.reader(io.StringIO(text.decode(), newline="")))
                self.assertTrue(rows, view)
                self.assertEqual({len(row) for row in rows}, {len(rows[0])}, view)
                for cell in (cell for row in rows[1:] for cell in row):
                    self.assertNotRegex(cell, r"^[=+@\t\r]|^-[^0-9]", view)

    def test_csv_has_every_table(self):
        """An array of objects of one form is a table, and a view's CSV has each of them, row for
        row."""
        no_tables = {"advice", "coverage", "notes", "in_flight"}
        seen = set()
        for view in sorted(set(views()) - NOT_STORED - {"dump", "card"}):
            for key, rows in runs.view("real", view).items():
                if (
                    key in no_tables
                    or (view, key) in (("summary", "what_if"), ("card", "what_if"))
                    or not isinstance(rows, list)
                ):
                    continue
                if not rows or not isinstance(rows[0], dict):
                    continue
                text = runs.report(
                    view, "--format=csv", f"--table={key}", runs.run("real")
                ).decode()
                told = list(csv.DictReader(io.StringIO(text, newline="")))
                self.assertEqual(len(told), len(rows), (view, key))
                numbers = [k for k, v in rows[0].items() if type(v) is int and k in told[0]]
                self.assertTrue(numbers or view == "processes", (view, key))
                for name in numbers:
                    self.assertEqual(
                        [row[name] for row in told],
                        ["" if row[name] is None else str(row[name]) for row in rows],
                        (view, key, name),
                    )
                seen.add((view, key))
        self.assertLessEqual(
            {("summary", "account"), ("steps", "quantiles"), ("stages", "stages")}, seen
        )


unittest.main()
