# SPDX-License-Identifier: Apache-2.0
"""Every view of a real run, a killed one, a hostile one and the golden ones, in each language.

STAGEPROF_TEST_REPORT, STAGEPROF_TEST_RUNS (of tests/report/exports/make_runs.py),
STAGEPROF_TEST_LAUNCHER.
"""

import functools
import glob
import gzip
import json
import os
import re
import sqlite3
import subprocess
import tempfile
import unittest

import po

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
GOLDEN = os.path.join(ROOT, "tests", "report", "golden", "v2")
REPORT = os.environ["STAGEPROF_TEST_REPORT"]
RUNS = {
    name: os.path.join(os.environ["STAGEPROF_TEST_RUNS"], name + ".zst")
    for name in ("real", "killed", "hostile")
}
RUNS.update(golden=os.path.join(GOLDEN, "run.zst"), ranks=os.path.join(GOLDEN, "ranks.zst"))
with open(os.path.join(ROOT, "analyzer", "views", "views.def"), encoding="utf-8") as file:
    VIEWS = [v for v in re.findall(r"^SP_VIEW(?:_BY)?\((\w+)", file.read(), re.M) if v != "html"]
with open(os.path.join(ROOT, "analyzer", "exporters", "exporters.def"), encoding="utf-8") as file:
    EXPORTS = re.findall(r"^SP_EXPORTER\((\w+)", file.read(), re.M)
SAMPLED = {"pprof"}  # the runs below have no samples
CHINESE = re.compile("[\u4e00-\u9fff]")
# Words in Latin letters that are no text: units, and what the recorder wrote into the golden run.
UNITS = set("ns us ms kB MB GB TB PB EB Mpx min".split())
GOLDEN_NOTES = set("clock TSC GHz links it statically libjpeg opt cv so".split())
VARIABLES = ("STAGEPROF_LANG", "LC_ALL", "LC_MESSAGES", "LC_CTYPE", "LANG", "LANGUAGE", "COLUMNS")


def report(*arguments, **variables):
    environment = {k: v for k, v in os.environ.items() if k not in VARIABLES}
    environment.update(variables)
    return subprocess.run(
        [REPORT, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=100,
        check=False,
    )


def text(*arguments, **variables):
    return report(*arguments, **variables).stdout.decode()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def runs_of(view, path):
    return [path, path] if view == "compare" else [path]


def every(*names):
    """Yields each view of each of these runs that is there; events one by one only of the small
    runs."""
    for name in names:
        if os.path.exists(RUNS[name]):
            for view in VIEWS:
                if view != "dump" or RUNS[name].startswith(GOLDEN):
                    yield view, name, RUNS[name]


def strings(value):
    """Every string in what a JSON document says."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


def words(line):
    return re.findall(r"[A-Za-z_]{2,}", re.sub(r"\\x[0-9A-F]{2}|\\u\{[0-9A-F]+\}", " ", line))


def data_words(*documents):
    """Names and codes; but not the sentences of a verdict, which JSON has in English."""
    found = set()
    for document in documents:
        for key in ("text", "title", "reason", "doubts", "confidence"):
            document = drop(document, key)
        for string in strings(document):
            found.update(words(re.sub(r"[\x00-\x1f\x7f-\x9f]|[^\x00-\x7f]", " ", string)))
    return found


def drop(value, key):
    if isinstance(value, dict):
        return {k: drop(v, key) for k, v in value.items() if k != key}
    if isinstance(value, list):
        return [drop(v, key) for v in value]
    return value


@functools.cache
def run_words(path):
    """The words of a run's own data, which any view may say."""
    documents = (json.loads(text(view, "--format=json", path)) for view in ("summary", "threads"))
    return data_words(*documents) | set(words(path))


def translated_words():
    found = set()
    for original, translation in po.entries(os.path.join(ROOT, "analyzer", "po", "zh_CN.po")):
        if original:
            found.update(words(re.sub(r"%[\d$.*]*l*[a-z]", " ", translation)))
    return found


def unescape(cell):
    return re.sub(r"\\(.)", r"\1", cell)


def tables(markdown):
    """Yields the rows of each table as lists of cells, and for each column whether it is to the
    right."""
    rows = []
    for line in markdown.splitlines() + [""]:
        if line.startswith("| ") or line.startswith("|:") or line.startswith("|-"):
            rows.append(line)
        elif rows:
            cells = [
                [
                    unescape(c.strip(" ")) if i else unescape(c[1:-1])
                    for i, c in enumerate(split(row))
                ]
                for row in rows
            ]
            yield [cells[0]] + cells[2:], [
                mark.endswith(":") and not mark.startswith(":") for mark in split(rows[1])
            ]
            rows = []


def split(row):
    """Cells of a row, of which a backslash may stand before what divides them."""
    return re.split(r"(?<!\\)\|", row)[1:-1]


def laid_out(rows, right):
    """The layout that the table format must have."""
    widths = [max(po.width(row[i]) for row in rows) for i in range(len(right))]
    for row in rows:
        line = ""
        for i, cell in enumerate(row):
            blanks = " " * (widths[i] - po.width(cell))
            line += ("  " if i else "") + (
                blanks + cell if right[i] else cell + ("" if i + 1 == len(row) else blanks)
            )
        yield line


class Views(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.english = translated_words() | UNITS | GOLDEN_NOTES | set(VIEWS)

    def assert_no_english(self, shown, known, where):
        for line in shown.splitlines():
            line = re.sub(r"[A-Za-z0-9_./-]+\.py:[0-9]+", " ", line)  # a place in the program
            left = [word for word in words(line) if word not in known]
            self.assertFalse(left, f"{where}: {left} in: {line}")

    def test_text_has_no_english(self):
        for view, name, path in every(*RUNS):
            with self.subTest(view=view, run=name):
                arguments = [view, "--limit=all", "--width=0", *runs_of(view, path)]
                known = data_words(json.loads(text(*arguments, "--format=json")))
                known |= run_words(path)
                for form in ("table", "md"):
                    shown = text(*arguments, "--format=" + form, "--lang=zh_CN")
                    self.assertRegex(shown, CHINESE)
                    if form == "md":
                        shown = "\n".join(
                            unescape(line) if line.startswith("|") else line
                            for line in shown.split("\n")
                        )
                    self.assert_no_english(shown, self.english | known, f"{view} {name} {form}")

    def test_explanations_have_no_english(self):
        rules = json.loads(text("explain", "--format=json"))
        known = self.english | {
            word
            for rows in rules.values()
            if isinstance(rows, list)
            for row in rows
            for key in ("code", "reason", "cost", "sign", "program")
            for word in words(row.get(key) or "")
        }
        path = os.path.join(ROOT, "analyzer", "metrics", "metric.def")
        with open(path, encoding="utf-8") as table:
            for metric, row in re.findall(
                r'^SP_METRIC\((\w+), \w+,\s*(?:"[^"]*"\s*)+,\s*"([^"]*)",', table.read(), re.M
            ):
                known.update(words(metric) + words(row))
        with open(
            os.path.join(ROOT, "analyzer", "verdict", "verdict.def"), encoding="utf-8"
        ) as table:
            known.update(re.findall(r"^SP_(?:RULE|STATE)\((\w+),", table.read(), re.M))
        for code in [[]] + [
            [row["code"]] for rows in rules.values() if isinstance(rows, list) for row in rows
        ]:
            shown = text("explain", *code, "--lang=zh_CN")
            self.assertRegex(shown, CHINESE)
            self.assert_no_english(shown, known, f"explain {code}")

    def test_columns_align(self):
        checked = 0
        for view, name, path in every("real", "golden", "ranks"):
            # card has no table; Markdown gets the summary. whatif has its reasons below the table.
            if view in ("card", "whatif"):
                continue
            for language in ("zh_CN", "en"):
                with self.subTest(view=view, run=name, language=language):
                    arguments = [
                        view,
                        "--limit=all",
                        "--width=0",
                        "--lang=" + language,
                        *runs_of(view, path),
                    ]
                    lines = [line.rstrip() for line in text(*arguments, LC_ALL="C.UTF-8").splitlines()]
                    for rows, right in tables(text(*arguments, "--format=md")):
                        if len(rows) == 1:  # without rows a sentence stands in its place
                            continue
                        for line in laid_out(rows, right):
                            self.assertIn(line.rstrip(), lines)
                            checked += 1
        self.assertGreater(checked, 200)

    def test_facts_and_wrapped_lines_align(self):
        """Behind the name of a fact, everything stands in the twelfth column; nothing is wider than
        asked for."""
        for name, path in RUNS.items():
            if not os.path.exists(path):
                continue
            verdict, facts = text("summary", "--lang=zh_CN", "--width=60", path).split("\n\n")[:2]
            self.assertRegex(verdict, "^结论 {7}[^ ]")
            for line in verdict.splitlines() + facts.splitlines():
                before = line[: 11 - sum(po.width(c) - 1 for c in re.match("[^ ]*", line).group())]
                self.assertEqual(po.width(before), 11, line)
                self.assertTrue(before.endswith("  "), line)
                self.assertNotIn(line[len(before)], " ，。、；：）", line)
            for line in verdict.splitlines():
                if not line.startswith("推演"):  # which is one line, however long
                    self.assertLessEqual(po.width(line), 60, line)

    def test_environment(self):
        wanted = report("--lang=zh_CN", RUNS["golden"])
        self.assertEqual((wanted.returncode, wanted.stderr), (0, b""))
        self.assertRegex(wanted.stdout.decode(), CHINESE)
        for variables in (
            {"LANG": "zh_CN.UTF-8"},
            {"LC_ALL": "zh_CN.UTF-8"},
            {"LC_MESSAGES": "zh_CN.UTF-8"},
            {"LC_ALL": "C.UTF-8", "LANGUAGE": "zh_CN"},
            {"STAGEPROF_LANG": "zh_CN"},
            {"STAGEPROF_LANG": "zh_CN", "LC_ALL": "C"},
            {"STAGEPROF_LANG": "zh_CN", "LC_ALL": "POSIX"},
        ):
            self.assertEqual(report(RUNS["golden"], **variables).stdout, wanted.stdout, variables)
        self.assertEqual(report("--lang=zh_CN", RUNS["golden"], LC_ALL="C").stdout, wanted.stdout)
        english = report(RUNS["golden"], LC_ALL="C", LANGUAGE="zh_CN")
        self.assertNotRegex(english.stdout.decode(), CHINESE)
        for other in ("zh_CN.GBK", "zh_CN.GB18030"):
            stays = report("--lang=zh_CN", RUNS["golden"], LC_ALL=other)
            self.assertEqual(stays.stdout, english.stdout)
            self.assertIn(other.encode(), stays.stderr)

    def test_machines_read_the_same_bytes(self):
        for view, name, path in every("real", "golden"):
            for form in ("json", "csv"):
                arguments = [view, "--format=" + form, *runs_of(view, path)]
                with self.subTest(view=view, run=name, form=form):
                    self.assertEqual(
                        text(*arguments, "--lang=zh_CN"), text(*arguments, "--lang=en")
                    )
        for form in ("json", "csv"):
            self.assertEqual(
                text("explain", "--format=" + form, "--lang=zh_CN"),
                text("explain", "--format=" + form),
            )

    def exported(self, name, path, language):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            done = report("export", name, path, "-o", out, "--lang=" + language)
            self.assertEqual(done.returncode, 0, done.stderr)
            if language != "en":
                self.assertRegex(done.stderr.decode(), CHINESE)
            if name == "sqlite":
                with sqlite3.connect(out) as db:
                    return "\n".join(db.iterdump())
            if os.path.isdir(out):
                names = sorted(glob.glob(out + "/**/*.parquet", recursive=True))
                return [(path[len(out) :], read(path)) for path in names]
            data = read(out)
            return gzip.decompress(data) if name == "chrome" else data

    def test_doctor(self):
        def doctor(language, *options):
            environment = {k: v for k, v in os.environ.items() if k not in VARIABLES}
            return subprocess.run(
                [os.environ["STAGEPROF_TEST_LAUNCHER"], "doctor", *options, "--", "cat"],
                env=dict(environment, STAGEPROF_LANG=language),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                timeout=100,
                check=False,
            )

        shown = doctor("zh_CN")
        checks, end = shown.stdout.decode().split("\n\n")
        self.assertIn(end, ("一切正常\n", "stageprof 可以工作；以上所说的内容将会缺失\n"))
        self.assertRegex(shown.stderr.decode(), CHINESE)
        for line in checks.splitlines():
            self.assertRegex(line, CHINESE)
        ours, theirs = (
            json.loads(doctor(language, "--format=json").stdout) for language in ("zh_CN", "en")
        )
        for check in ours["checks"] + theirs["checks"]:
            check["text"] = re.sub(r"\d", "", check["text"])  # what is left of a disk
        self.assertEqual(ours, theirs)

    def test_exports_are_the_same(self):
        for run in ("real", "golden"):
            if os.path.exists(RUNS[run]):
                for name in set(EXPORTS) - SAMPLED:
                    with self.subTest(export=name, run=run):
                        self.assertEqual(
                            self.exported(name, RUNS[run], "zh_CN"),
                            self.exported(name, RUNS[run], "en"),
                        )

    def page(self, path, language):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "page.html")
            self.assertEqual(report("html", path, "-o", out, "--lang=" + language).returncode, 0)
            with open(out, encoding="utf-8") as file:
                return file.read()

    def test_page(self):
        data = r'<script type="application/json" id="data-(\w+)">(.*?)</script>'
        for name, path in RUNS.items():
            if not os.path.exists(path):
                continue
            with self.subTest(run=name):
                chinese, english = self.page(path, "zh_CN"), self.page(path, "en")
                self.assertIn('<html lang="zh-CN">', chinese)
                self.assertIn('<html lang="en">', english)
                ours, theirs = (dict(re.findall(data, page, re.S)) for page in (chinese, english))
                self.assertEqual(set(ours), set(theirs))
                for key in ours:
                    if key == "heat":
                        heat = [drop(json.loads(page[key]), "title") for page in (ours, theirs)]
                        self.assertEqual(*heat, key)
                    elif key not in ("words", "training"):
                        self.assertEqual(ours[key], theirs[key], key)
                self.assertEqual(set(json.loads(ours["words"])), set(json.loads(theirs["words"])))
                for key, words_of in json.loads(ours["words"]).items():
                    self.assertTrue(CHINESE.search(words_of) or not words(words_of), key)
                shown = re.sub(
                    r"<(script|style|pre)\b.*?</\1>", " ", chinese.split("<body>")[1], flags=re.S
                )
                known = self.english | data_words(
                    *(json.loads(v) for k, v in theirs.items() if k != "words")
                )
                self.assert_no_english(
                    re.sub(r"<[^>]*>|&#?\w+;", "\n", shown), known | {"UTC", "dygraphs"}, name
                )

    def test_scripts_say_only_what_the_table_has(self):
        with open(
            os.path.join(ROOT, "analyzer", "page", "page_words.def"), encoding="utf-8"
        ) as table:
            keys = re.findall(r"^SP_PAGE_WORD\((\w+),", table.read(), re.M)
        self.assertEqual(len(keys), len(set(keys)))
        scripts = ""
        folder = os.path.join(ROOT, "analyzer", "page", "html")
        for name in os.listdir(folder):
            if name.endswith(".js"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    scripts += file.read()
        said = (
            set(re.findall(r'Page\.say\([^"()]*"(\w+)"', scripts))
            | set(re.findall(r'\? "(\w+)" : "\w+",', scripts))
            | set(re.findall(r'Page\.say\([^"]*\? "\w+" : "(\w+)"', scripts))
        )
        self.assertLessEqual({key for key in said if not key.endswith("_")}, set(keys))


if __name__ == "__main__":
    unittest.main()
