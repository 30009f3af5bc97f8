# SPDX-License-Identifier: Apache-2.0
"""How far one reads until the verdict and the right advice of a planted fault, in a terminal and on
the first screen of the page (Chromium, 1400 by 800).

    first_screen.py [--keep FOLDER] [--draw COUNT] [TRAINER...]    exit 1 where a verdict or an
    advice is not there, 77 where nothing could be run

Prints a table: the line, and the words up to its end. With --draw some faults are drawn by chance,
and nothing is printed but where the key is: FOLDER then has A, B, ... to be read without the answer
(terminal.txt, page.txt, page.png), and key.json. The trainer's own name is in none of them.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import faults
import harness

sys.path.insert(0, os.path.join(harness.training.ROOT, "tests", "report", "html"))

import chromium

LAUNCHER = os.path.join(os.path.dirname(os.environ["STAGEPROF_TEST_REPORT"]), "stageprof")
FEW = ["slow_storage", "slow_transform", "checkpoint_each_step"]
WIDTH, HEIGHT, COLUMNS = 1400, 800, 100
BEGIN = 24  # characters of an advice: it begins with what to do

# The text that is within the window, a line for each element that is a block, as one reads it.
VISIBLE = """
    const lines = [];
    let last = null;
    const block = (e) => {
        while (e.parentElement && getComputedStyle(e).display.startsWith("inline"))
            e = e.parentElement;
        return e;
    };
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const range = document.createRange(), text = texts.currentNode.textContent.trim();
        range.selectNode(texts.currentNode);
        const b = range.getBoundingClientRect(), parent = texts.currentNode.parentElement;
        if (!text || b.width < 2 || b.top >= innerHeight || b.bottom <= 0 ||
            getComputedStyle(parent).visibility !== "visible" || !parent.checkVisibility())
            continue;
        if (block(parent) === last)
            lines[lines.length - 1] += " " + text;
        else
            lines.push(text);
        last = block(parent);
    }
    return lines.map((line) => line.replace(/\\s+/g, " "));
"""


def train(fault, folder):
    """Returns the card that the launcher printed; the run and its page lie in the folder."""
    program, data = os.path.join(folder, "train.py"), os.path.join(folder, "data")
    shutil.copy(os.path.join(harness.HERE, "trainers", fault.trainer + ".py"), program)
    os.makedirs(data)
    harness.python([program, "make", data], folder, traced=False)
    env = {**harness.environment(False, "", {}), "COLUMNS": str(COLUMNS)}
    command = [LAUNCHER, "run", "--html", "-o", "run.zst", "--"]
    command += [harness.training.interpreter("h5py", "cv2"), program, "train"]
    read = dict(cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
                preexec_fn=harness.two_cores, check=True, universal_newlines=True)
    if "latency_us" not in fault.settings:
        return subprocess.run([*command, data], **read).stderr
    with harness.slow(data, **fault.settings) as view:
        return subprocess.run([*command, view], **read).stderr


def first_screen(page, picture):
    with chromium.Chromium() as browser:
        browser.window(WIDTH, HEIGHT)
        browser.open(page)
        browser.picture(picture)
        return browser.do(VISIBLE)


def place(lines, text):
    """The line that has the text, from 1, and the words up to that line's end; or None."""
    text = re.sub(r"\s+", " ", text)
    words = 0
    for number, line in enumerate(lines, 1):
        words += len(line.split())
        if text in line:
            return number, words
    return None


def whole_lines(terminal):
    """Rows of the card are joined with the lines that they go on in."""
    rows = []
    for line in terminal.splitlines():
        if line.startswith("      ") and rows:
            rows[-1] += " " + line.strip()
        else:
            rows.append(re.sub(r"\s+", " ", line))
    return rows


def places(lines, summary, fault):
    """The verdict's place, and that of the first advice that the fault has to give."""
    advice = [line["text"] for line in summary["advice"] if line["id"] in fault.advice]
    found = [place(lines, text[:BEGIN]) for text in advice]
    return place(lines, summary["verdict"]["text"]), min(filter(None, found), default=None)


def observe(fault, folder):
    """The places in both, and whether the verdict is a right one; leaves what can be read."""
    card = train(fault, folder)
    run = os.path.join(folder, "run.zst")
    page = first_screen(os.path.join(folder, "run.html"), os.path.join(folder, "page.png"))
    summary = harness.report(run)
    for name, text in ("terminal.txt", card), ("page.txt", "\n".join(page) + "\n"):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    is_right = summary["verdict"]["code"] in fault.verdicts
    return is_right, [*places(whole_lines(card), summary, fault), *places(page, summary, fault)]


def row_of(fault, folder):
    """A row of the table, and whether all of it was found; None where it could not be run."""
    try:
        is_right, found = observe(fault, folder)
    except harness.CannotRun as reason:
        return f"| {fault.trainer} | not run: {reason} | | | |", None
    cells = [f"{at[0]} ({at[1]} words)" if at else "not there" for at in found]
    return f"| {fault.trainer} | {' | '.join(cells)} |", is_right and all(found)


def parse(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("--draw", metavar="COUNT", type=int, default=0)
    parser.add_argument("trainers", nargs="*", metavar="TRAINER")
    return parser.parse_args(argv)


def drawn(count):
    """Faults of one process whose advice is known."""
    return random.sample([f for f in faults.TABLE if f.advice and "ranks" not in f.settings], count)


def draw(options):
    """Each case in a folder whose name says nothing."""
    key = {}
    for letter, fault in zip("ABCDEFGHIJ", drawn(options.draw)):
        folder = os.path.join(options.keep, letter)
        os.makedirs(folder)
        key[letter] = row_of(fault, folder)[0]
    with open(os.path.join(options.keep, "key.json"), "w") as file:
        json.dump(key, file, indent=1)
    print("the key is in", file.name)
    return 0


def main(argv):
    options = parse(argv)
    if not chromium.find():
        harness.training.skip("no Chromium")
    if options.draw:
        return draw(options)
    chosen = options.trainers or FEW
    print("| planted | terminal: why | what to change | page: why | what to change |", flush=True)
    print("|---|---|---|---|---|", flush=True)
    results = []
    for fault in faults.TABLE:
        if fault.trainer not in chosen:
            continue
        with tempfile.TemporaryDirectory(prefix="stageprof-planted-") as scratch:
            folder = os.path.join(options.keep or scratch, "run-" + fault.trainer)
            os.makedirs(folder)
            row, is_whole = row_of(fault, folder)
        print(row, flush=True)
        results.append(is_whole)
    return 1 if False in results else 0 if True in results else 77


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
