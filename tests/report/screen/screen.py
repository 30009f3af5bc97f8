# SPDX-License-Identifier: Apache-2.0
"""The default report of ten different runs: at most 24 lines of 80 columns with the prompt, the
verdict first, and each number that is shown twice is the same number.

Environment: that of tests/training/training.py.
"""

import concurrent.futures
import html
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
TRAINING = os.path.join(ROOT, "tests", "training")
GOLDEN = os.path.join(ROOT, "tests", "report", "golden")
sys.path.insert(0, TRAINING)

import training

REPORT = os.environ["STAGEPROF_TEST_REPORT"]
SAVED = [os.path.join(GOLDEN, name) for name in ("v2/run.zst", "v2/ranks.zst", "v2/gpu.zst")]
TRAINERS = (
    ["truth/one_epoch.py"],
    ["truth/many_validations.py"],
    ["truth/rollouts.py"],
    ["truth/lbfgs.py"],
    ["truth/loader_thread.py"],
    ["timed_loop.py", "2", "2"],
)
CARD_LINES = 16
LINES, COLUMNS = 22, 80  # the command stands above, and the next prompt below
NUMBER = r"(?:[\d.]+ (?:ns|[µu]s|ms|s)|\d+:\d\d:\d\d)"


def show(run, *options):
    """The lines of the report for people."""
    done = subprocess.run(
        [REPORT, *options, run], stdout=subprocess.PIPE, universal_newlines=True, check=True
    )
    return done.stdout.rstrip("\n").split("\n")


def joined(lines):
    return re.sub(r"\s+", " ", " ".join(lines))


def one(case, pattern, lines):
    found = re.findall(pattern, joined(lines))
    case.assertEqual(len(found), 1, f"{pattern}: {found}")
    return found[0]


def row(lines, title):
    """The cells of a table's row."""
    for line in lines:
        if re.match(re.escape(title) + r" {2,}", line):
            return re.split(r" {2,}", line.strip())[1:]
    return None


class Screen(unittest.TestCase):
    runs = list(SAVED)

    def each(self, check):
        """Calls check(run, the run's summary), for people to see which run failed."""
        for run in self.runs:
            with self.subTest(os.path.relpath(run, os.path.dirname(os.path.dirname(run)))):
                check(run, training.report("summary", run))

    def each_trained(self, check):
        self.each(lambda run, seen: check(run, seen) if seen["steps"]["count"] else None)

    def test_it_fits(self):
        self.assertEqual(len(self.runs), len(SAVED) + len(TRAINERS))
        self.each(self.check_size)

    def check_size(self, run, _):
        lines = show(run, f"--width={COLUMNS}")
        self.assertLessEqual(len(lines), LINES, "\n".join(lines))
        self.assertEqual([line for line in lines if len(line) > COLUMNS], [])
        self.assertTrue(lines[0].startswith("verdict "), lines[0])

    def test_a_step_is_one_number(self):
        self.each_trained(self.check_step)

    def check_step(self, run, document):
        lines = show(run, f"--width={COLUMNS}")
        step = one(self, rf"a step ({NUMBER}), the mean of", lines)
        self.assertEqual(row(lines, "together")[2], step)
        for view in (["summary", "-v"], ["steps"], ["html", "-o", "-"]):
            text = joined(show(run, *view))
            self.assertIn(f"{step}, the mean of", text, view)
        line = show(run, "line")
        self.assertEqual(one(self, rf"steps \d+ to \d+: ({NUMBER}) a step", line), step)
        for line in show(run, "whatif", "--all"):
            now = re.match(rf"\S.*?  +({NUMBER})  ", line)
            self.assertIn(now and now[1], (None, step))
        for would, now in re.findall(rf"a step would take (.*?), not ({NUMBER})", joined(show(run, "summary"))):
            self.assertEqual(now, step, would)
        self.check_steps(document)

    def check_steps(self, document):
        """The same in JSON, where it has one name."""
        mean = document["steps"]["step_mean_ns"]
        for what_if in document["what_if"]:
            self.assertIn(what_if["now_ns"], (None, mean))
        for evidence in document["verdict"]["evidence"]:
            if evidence["metric"] == "step_mean_ns":
                self.assertAlmostEqual(evidence["value"], mean, delta=1)
        parts = [part["step_mean_ns"] or 0 for part in document["account"]]
        self.assertAlmostEqual(sum(parts), mean, delta=len(parts))

    def test_the_bar_is_the_table(self):
        self.each_trained(self.check_bar)

    def check_bar(self, run, document):
        lines = show(run, f"--width={COLUMNS}")
        total, parts = one(self, rf"training ({NUMBER}) \|(\S.*?)\| (?:do first|ended|lost)", lines)
        self.assertEqual(row(lines, "together")[0], total)
        shares = {}
        for part in document["account"]:
            shares[part["part"]] = part["share"] or 0
        self.assertAlmostEqual(sum(shares.values()), 1, places=4)
        allowed = {f"{100 * share:.0f}" for share in shares.values()}
        small = sum(s for name, s in shares.items() if s < 0.02 or name == "other")
        allowed.add(f"{100 * small:.0f}")
        for share in re.findall(r"(\d+)%", parts):
            self.assertIn(share, allowed, parts)

    def test_shares_of_waiting_add_up(self):
        self.sums = 0
        self.each_trained(self.check_waiting)
        self.assertGreater(self.sums, 1)

    def check_waiting(self, run, document):
        text = joined(show(run, f"--width={COLUMNS}"))
        wait = re.search(r"input wait ([\d.]+)% = ([\d.]+)% that costs time((?: \+ [\d.]+% \D+?)*)(?=life)", text)
        if not wait:
            return
        self.sums += 1
        parts = [float(part) for part in re.findall(r"\+ ([\d.]+)%", wait[3])]
        self.assertAlmostEqual(float(wait[1]), float(wait[2]) + sum(parts), delta=0.15)
        shown = {p["part"]: p["share"] for p in document["account"]}["loader_wait"]
        self.assertEqual(f"{100 * shown:.1f}", wait[1])
        sentence = re.search(r"cost of input is ([\d.]+)%", document["verdict"]["text"])
        self.assertIn(sentence and sentence[1], (None, wait[2]))

    def test_advice_and_its_savings_are_the_same_everywhere(self):
        self.each_trained(self.check_advice)

    def check_advice(self, run, document):
        page = joined(show(run, "html", "-o", "-"))
        cards = html.unescape(page.partition('<ol class="cards">')[2])
        lines = show(run, "card", "--width=200")
        text = joined(lines)
        shown = sum(line.startswith(("do first", "then ")) for line in lines)
        if len(lines) < 9:  # later advice gives way to the first
            self.assertEqual(shown, min(len(document["advice"]), 3), text)
        for i, advice in enumerate(document["advice"][:shown]):
            least, most = advice["saves_least_share"], advice["saves_most_share"]
            start = re.escape(advice["text"][:12])
            if most is not None:
                self.assertLessEqual(least, most)
                saves = re.search(rf"(?:to|saves) ([\d.]+)%[^)]*\) {start}", text)
                self.assertIsNotNone(saves, text)
                self.assertEqual(saves[1], f"{100 * most:.1f}", text)
            self.assertRegex(text, start)
            place = [cards.index(a["text"][:12]) for a in document["advice"][: i + 1]]
            self.assertEqual(place, sorted(place))

    def test_the_card_has_the_advice_and_the_doubts(self):
        self.each_trained(self.check_card)

    def check_card(self, run, document):
        """In few lines of a terminal; the summary has the sum of waits in another line."""
        lines = show(run, "card", f"--width={COLUMNS}")
        text, verdict = joined(lines), document["verdict"]
        self.assertLessEqual(len(lines), CARD_LINES)
        heads = [line[:11].strip() for line in lines if line[0] != " "]
        shown = min(len(document["advice"]), 3)
        self.assertEqual(heads.count("do first"), shown > 0)
        self.check_sentences(lines)
        self.check_sentences(show(run, f"--width={COLUMNS}"))
        if len(lines) < CARD_LINES - 3:  # an advice takes three at most
            self.assertEqual(heads.count("do first") + heads.count("then"), shown, text)
        after = ":" if verdict["doubts"] else "]"
        self.assertIn(f"confidence {verdict['confidence']}{after}", text)
        told = re.search(r"input wait ([\d.]+)% = ([\d.]+)%", text)
        if told:
            self.assertGreater(float(told[1]) - float(told[2]), 0.9)
        whole = joined(show(run, f"--width={COLUMNS}"))
        wait = re.search(r"input wait ([\d.]+)% = ([\d.]+)% that costs time", whole)
        shares = {"input_wait_share", "lost_wait_share"}
        rests_on_wait = shares & {part["metric"] for part in verdict["evidence"]}
        differs = wait and float(wait[1]) - float(wait[2]) > 1.1
        if differs and rests_on_wait and len(lines) < CARD_LINES:
            self.assertTrue(told, text)

    def check_sentences(self, lines):
        """No advice is cut: sentences and reasons give way, then whole pieces."""
        for i, line in enumerate(lines):
            if re.match("do first|then |where ", line):
                rest = itertools.takewhile(lambda line: line.startswith(" "), lines[i + 1 :])
                text = joined([line, *rest])
                self.assertFalse(text.endswith("..."), text)

    def test_files_without_a_name_come_last(self):
        self.rests = 0
        self.each(self.check_files)
        self.assertGreater(self.rests, 0)

    def check_files(self, run, _):
        lines = show(run, "files", f"--width={COLUMNS}", "--limit=all")
        rest = [i for i, line in enumerate(lines) if line.startswith("(the rest")]
        named = [i for i, line in enumerate(lines) if line.startswith("/")]
        if rest and named:
            self.rests += 1
            self.assertGreater(rest[0], named[-1], "\n".join(lines))

    def test_the_whole_life_is_told(self):
        self.each_trained(self.check_life)

    def check_life(self, run, document):
        self.assertAlmostEqual(sum(part["share"] for part in document["life"]), 1, places=4)
        life = {part["part"]: part["ns"] for part in document["life"]}
        account = sum(part["ns"] or 0 for part in document["account"])
        within = life["first_batch"] + life["steps"] + life["between"] + life["ends"]
        if document["steps"]["trainers"] == 1:
            self.assertLessEqual(account, within)
            self.assertGreater(account, within - life["first_batch"] - 1)
        brief = show(run, f"--width={COLUMNS}")
        text = one(self, rf"life ({NUMBER} of .*?) more", brief)
        whole = one(self, rf"life ({NUMBER} of .*?\)) training", show(run, "summary", "-v"))
        self.assertEqual(re.sub(r" \([\d.]+%\)", "", whole), text)
        shares = [float(share) for share in re.findall(r"\(([\d.]+)%\)", whole)]
        self.assertAlmostEqual(sum(shares), 100, delta=0.4)

    def test_a_part_of_a_run_says_so(self):
        self.each_trained(self.check_part)

    def check_part(self, run, document):
        """The figures of a part have no figures of the whole run beside them."""
        lines = show(run, f"--width={COLUMNS}", "--steps=0:2")
        self.assertIn("only       steps 0 to 1", lines)
        self.assertEqual([line for line in lines if line.startswith("life ")], [])
        page = joined(show(run, "html", "-o", "-", "--steps=0:2"))
        self.assertIn("only steps 0 to 1", page)

    def test_two_runs_are_one_job_only_if_asked(self):
        self.assertIn("2 runs without ranks are added up", warnings(*self.runs[-2:]))
        self.assertNotIn("added up", warnings(self.runs[-1]))

    def test_a_copy_without_the_trainer(self):
        """Workers name the process that began them."""
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "copy.zst")
            shutil.copytree(self.runs[-1], copy)
            self.assertNotIn("main thread", warnings(copy))
            threads = [name for name in os.listdir(copy) if not name.startswith("0-run")]
            pids = {name: int(re.search(r"-(\d+)-[0-9a-f]+-", name)[1]) for name in threads}
            # not the least number: the kernel's begin again
            processes = json.loads("".join(show(copy, "processes", "--format=json")))["processes"]
            began = {process["pid"]: process["ppid"] for process in processes}
            (trainer,) = (pid for pid, parent in began.items() if parent not in began)
            for name in threads:
                if pids[name] == trainer:
                    os.remove(os.path.join(copy, name))
            self.assertRegex(warnings(copy), r"main threads? that forked \d+ process")


def warnings(*runs):
    done = subprocess.run(
        [REPORT, "line", *runs],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    return done.stderr


def train(python, folder, number, words):
    inside = os.path.join(folder, str(number))
    os.mkdir(inside)
    program = [python, os.path.join(TRAINING, words[0]), *words[1:]]
    done = training.execute(program, inside)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.stderr.decode()}")
    return os.path.join(inside, "run.zst")


def main():
    python = training.interpreter()
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            made = [
                pool.submit(train, python, folder, i, words) for i, words in enumerate(TRAINERS)
            ]
            Screen.runs = SAVED + [run.result() for run in made]
        unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
