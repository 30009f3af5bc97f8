# SPDX-License-Identifier: Apache-2.0
"""matrix.py BUILD [--jobs=N]: runs every test of the label `faults` in BUILD, and writes
docs/tests/FAULTS.md from what they said: one whole run of one commit.

It may be stopped and begun again. A test with a result of this commit is run again only if it
failed. Results lie in BUILD/fault-matrix/COMMIT/, one file a test. Exit status: 1 where a row
failed."""

import concurrent.futures
import datetime
import json
import os
import re
import subprocess
import sys
import textwrap
import time
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
DOCUMENT = os.path.join(ROOT, "docs", "tests", "FAULTS.md")
ROWS = "```rows\n"
SUITES = "| suite | result | verdicts |\n|---|---|---|\n"
REASON = re.compile(r"^(?:\d+: )?(?:skipped|SKIP): *(.*)", re.M)


def rows():
    with open(os.path.join(HERE, "faults.def")) as file:
        for line in file:
            if line[0].isdigit():
                yield [field.strip() for field in line.split("|")]


def git(*arguments):
    command = ["git", "-C", ROOT, *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().strip()


def commit():
    """The commit under test; `-dirty` where more has changed since than the document that is
    written here."""
    changed = git(
        "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/tests/FAULTS.md"
    )
    return git("rev-parse", "--short=12", "HEAD") + ("-dirty" if changed else "")


def tests(build):
    """Names, what takes longest first: two that end together end soonest."""
    command = ["ctest", "--test-dir", build, "-L", "^faults$", "--show-only=json-v1"]
    listed = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    limits = {}
    for test in listed["tests"]:
        values = {p["name"]: p["value"] for p in test["properties"]}
        limits[test["name"]] = values.get("TIMEOUT", 0)
    return sorted(limits, key=limits.get, reverse=True)


def verdict(case):
    """(pass, fail or skip, what the test said)."""
    said = "".join(case.itertext())
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        reason = REASON.search(said)
        return "skip", reason[1].strip() if reason else "not run"
    if case.find("failure") is not None or case.get("status") != "run":
        return "fail", said
    return "pass", said


def told_by_ctest(junit, name):
    """Verdict and words; a ctest that was ended with its test has written nothing, or half."""
    try:
        cases = list(xml.etree.ElementTree.parse(junit).iter("testcase"))
        os.unlink(junit)
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        return "fail", f"ctest told nothing: {error}"
    return next((verdict(case) for case in cases if case.get("name") == name), ("fail", "not run"))


class Results:
    def __init__(self, build):
        self.build, self.commit = build, commit()
        self.folder = os.path.join(build, "fault-matrix", self.commit)
        os.makedirs(self.folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name + ".json")

    def of(self, name):
        try:
            with open(self.path(name)) as file:
                return json.load(file)
        except FileNotFoundError:
            return {"verdict": "not run", "said": "", "runs": 0, "seconds": 0}

    def is_settled(self, name):
        return self.of(name)["verdict"] in ("pass", "skip")

    def run(self, name):
        junit = self.path(name) + ".xml"
        command = [
            "ctest",
            "--test-dir",
            self.build,
            "-R",
            f"^{re.escape(name)}$",
            "--output-junit",
            junit,
        ]
        began = time.monotonic()
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        ) as ctest:
            _, _, usage = os.wait4(ctest.pid, 0)
            ctest.returncode = 0
        result, said = told_by_ctest(junit, name)
        self.keep(
            name,
            {
                "verdict": result,
                "said": said[-8000:],
                "runs": self.of(name)["runs"] + 1,
                "seconds": round(time.monotonic() - began, 1),
                "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
                "date": datetime.date.today().isoformat(),
            },
        )

    def keep(self, name, result):
        with open(self.path(name) + ".part", "w") as file:
            json.dump(result, file, indent=1)
        os.replace(self.path(name) + ".part", self.path(name))

    def told(self, name):
        result = self.of(name)
        if result["verdict"] == "not run":
            return "not run"
        text = result["verdict"] + (f": {result['said']}" if result["verdict"] == "skip" else "")
        again = f", run {result['runs']}" if result["runs"] > 1 else ""
        return f"{text}{again}, {result['date']}"

    def told_of_row(self, name, labels):
        """A race has two: as often as in each run, and many times."""
        times = re.search(r"race=(\d+)", labels)
        often = self.of(name + "_often")["verdict"]
        text = self.told(name)
        if not times or not text.startswith("pass") or often == "not run":
            return text
        many = f"{int(times[1]):,} times"
        return text.replace(
            "pass", f"pass, {many} too" if often == "pass" else f"{often} in {many}"
        )


def lists_of_rows(results):
    """The tests by their results: a line that says the result, and the tests below it."""
    lists = {}
    for number, name, _, _, labels, program in rows():
        test = f"fault_{number}_{name}"
        told = "no test" if program == "-" else results.told_of_row(test, labels)
        lists.setdefault(told, []).append(test)
    indent = {"initial_indent": "  ", "subsequent_indent": "  "}
    return "".join(
        f"{told}:\n{textwrap.fill(' '.join(tests), 100, break_on_hyphens=False, **indent)}\n"
        for told, tests in lists.items()
    )


def table_of_suites(results, names):
    table = SUITES
    for name in sorted(names):
        said = results.of(name)["said"]
        verdicts = re.findall(r"^(?:\d+: )?(\w+): \{(.*)\}, (\d+) differ$", said, re.M)
        text = "; ".join(f"{m}: {v}; {n} differ".replace("'", "") for m, v, n in verdicts)
        table += f"| `{name}` | {results.told(name)} | {text or '-'} |\n"
    return table


def replace_table(text, head, table):
    """The table that begins as `head` does."""
    first = head.partition("\n")[0]
    before, found, rest = text.partition(first)
    if not found:
        sys.exit(f"{DOCUMENT} has no table that begins with {first}")
    return before + table + re.sub(r"\A(?:.*\|\n)+", "", found + rest)


def replace_lists(text, lists):
    before, found, rest = text.partition(ROWS)
    if not found:
        sys.exit(f"{DOCUMENT} has no lists that begin with {ROWS}")
    return before + ROWS + lists + "```" + rest.partition("```")[2]


def write(results, names):
    with open(DOCUMENT) as file:
        text = file.read()
    text = replace_lists(text, lists_of_rows(results))
    suites = [name for name in names if name.startswith("suite_")]
    text = replace_table(text, SUITES, table_of_suites(results, suites))
    seconds = sum(results.of(name)["seconds"] for name in names)
    whole = f"<!-- run -->Commit {results.commit}, {len(names)} tests, {seconds / 60:.0f} minutes of tests"
    text = re.sub(r"<!-- run -->[^.\n]*", whole, text)
    with open(DOCUMENT, "w") as file:
        file.write(text)


def summarise(results, names):
    counts, failed = {}, []
    for name in names:
        result = results.of(name)["verdict"]
        counts[result] = counts.get(result, 0) + 1
        if result == "fail":
            failed.append(name)
    longest = sorted(names, key=lambda name: -results.of(name)["seconds"])[:8]
    print(counts, *(f"failed: {name}" for name in failed), sep="\n")
    for name in longest:
        result = results.of(name)
        print(f"{result['seconds']:8.1f} s {result.get('cpu_seconds', 0):8.1f} s of CPU  {name}")
    return failed


def arguments():
    """(BUILD, N). Anything else ends with one line, before the document is written."""
    known = re.fullmatch(r"(\S+)(?: --jobs=([1-9]\d*))?", " ".join(sys.argv[1:]))
    if not known or not os.path.exists(os.path.join(known[1], "CTestTestfile.cmake")):
        sys.exit(f"matrix.py: not BUILD [--jobs=N]: {' '.join(sys.argv[1:])}; BUILD has the tests")
    return os.path.abspath(known[1]), int(known[2] or 2)


def main():
    build, jobs = arguments()
    results, names = Results(build), tests(build)
    left = [name for name in names if not results.is_settled(name)]
    print(f"{results.commit}: {len(left)} of {len(names)} tests to run", flush=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = {pool.submit(results.run, name): name for name in left}
        for done in concurrent.futures.as_completed(runs):
            done.result()
            result = results.of(runs[done])
            print(f"{result['verdict']} {result['seconds']:7.1f} s  {runs[done]}", flush=True)
    write(results, names)
    sys.exit(bool(summarise(results, names)))


if __name__ == "__main__":
    main()
