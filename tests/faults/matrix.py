"""matrix.py DATE JUNIT...: writes the matrix of docs/RELIABILITY.md anew, from faults.def and the results of

    ctest --test-dir build/release -L faults --output-junit JUNIT

Rows without a result keep the one they had."""

import os
import re
import sys
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
DOCUMENT = os.path.join(HERE, "..", "..", "docs", "RELIABILITY.md")
HEAD = "| row | fault, provoked by | must be seen | test | result |\n|---|---|---|---|---|\n"


def rows():
    with open(os.path.join(HERE, "faults.def")) as file:
        for line in file:
            if line[0].isdigit():
                yield [field.strip() for field in line.split("|")]


def verdict(case, date):
    said = "".join(case.itertext())
    if case.find("failure") is not None or case.get("status") == "fail":
        return f"fail, {date}"
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        reason = re.search(r"(?:skipped|SKIP): *(.*)", said)
        return f"skip: {reason[1].strip() if reason else 'not run'}, {date}"
    return f"pass, {date}"


def results(paths, date):
    found = {}
    for path in paths:
        for case in xml.etree.ElementTree.parse(path).iter("testcase"):
            found[case.get("name")] = verdict(case, date)
    return found


def main():
    date, paths = sys.argv[1], sys.argv[2:]
    with open(DOCUMENT) as file:
        text = file.read()
    before = dict(re.findall(r"^\| \d+ \|.*\| `?(\w+|-)`? \| (.*) \|$", text, re.M))
    now = results(paths, date)
    table = HEAD
    for number, name, provoked, seen, _, program in rows():
        test = f"fault_{number}_{name}" if program != "-" else "-"
        result = "no test" if program == "-" else now.get(test) or before.get(test) or "not run"
        test = f"`{test}`" if program != "-" else "-"
        table += f"| {number} | {provoked} | {seen} | {test} | {result} |\n"
    head, _, rest = text.partition("| row |")
    tail = re.sub(r"\A(?:.*\|\n)+", "", "| row |" + rest)
    with open(DOCUMENT, "w") as file:
        file.write(head + table + tail)


if __name__ == "__main__":
    main()
