# SPDX-License-Identifier: Apache-2.0
"""verdict_tables.py SOURCE COMPILER CASE...: the tables of analyzer/verdict.

    Contradictions  a row that contradicts another, or lacks a column, does not compile, and the
                    compiler names its table
    Rows            a run that a test makes reaches each row and is expected to, or the row stands
                    below with its reason; a rule or another metric asks for each metric
    RowsFind        Rows finds a row that is in neither, and a metric that nothing asks for

A piece of advice is reached by its case in tests/training/changes.py, and the rule that it is
about is, too, because the rule has to hold. Other rows are in REACHED: the file of the test, and
the words in it that expect the row."""

import ast
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE, COMPILER = sys.argv[1:3]
ROOM, METRICS = "analyzer/verdict", "analyzer/metrics/metric.def"
UNIT, TRAINING = "tests/unit/analyzer", "tests/training"
ADVICE = re.compile(r"^SP_ADVICE\((\w+), (\w+),(.*?)\n\t\"", re.M | re.S)

REACHED = {
    "verdict.def": {
        "hung": ("tests/host/launch/endings.py", '"hung")'),
        "no_steps": (f"{TRAINING}/frameworks.py", '["reason"], "no-steps"'),
        "no_training": (f"{TRAINING}/frameworks.py", '["reason"], "no-training"'),
        "too_few_steps": (f"{UNIT}/metrics/metrics_test.c", 'judge(), "too-few-steps"'),
        "memory_copied": (f"{UNIT}/metrics/cores_test.c", "SP_VERDICT_memory_copied"),
        "memory_leaked": (f"{UNIT}/metrics/cores_test.c", "SP_VERDICT_memory_leaked"),
        "unfed": (f"{TRAINING}/changes.py", '"own_queue"'),
        "received": (f"{TRAINING}/programs/pipe_lines.py", "reading from other programs"),
        "waiting": (f"{TRAINING}/programs/iterable.py", "of the work on them sleeps or waits"),
        "library": (f"{UNIT}/workers/workers_test.c", "SP_VERDICT_library"),
        "handover": (f"{UNIT}/workers/workers_test.c", "SP_VERDICT_handover"),
        "sampler": (f"{TRAINING}/changes.py", '"cheaper_sampler"'),
        "late_compile": (f"{UNIT}/metrics/whole_steps_test.c", "SP_VERDICT_late_compile"),
        "recompile": (f"{UNIT}/metrics/whole_steps_test.c", "SP_VERDICT_recompile"),
        "unfed_loop": (f"{TRAINING}/changes.py", '"loop_batches"'),
        "hidden_loop": (
            f"{TRAINING}/programs/recipes/scripted_evaluation.py",
            "an evaluation, and no call of the model was seen",
        ),
    },
    "doubt.def": {
        "short_window": (f"{UNIT}/metrics/metrics_test.c", "SP_DOUBT_short_window"),
        "drift": (f"{UNIT}/metrics/metrics_test.c", "SP_DOUBT_drift"),
        "second": (f"{UNIT}/verdict/verdict_test.c", "SP_DOUBT_second"),
        "lost": (f"{UNIT}/metrics/metrics_test.c", "SP_DOUBT_lost"),
        "unknown_events": (f"{UNIT}/metrics/metrics_test.c", "SP_DOUBT_unknown_events"),
        "rival": (f"{UNIT}/metrics/allocations_test.c", "SP_DOUBT_rival"),
        "queue": (f"{UNIT}/metrics/device_metrics_test.c", "SP_DOUBT_queue"),
        "work_unseen": (f"{UNIT}/workers/workers_test.c", "SP_DOUBT_work_unseen"),
        "first_epoch": (f"{UNIT}/metrics/metrics_test.c", "SP_DOUBT_first_epoch"),
        "switches": (f"{UNIT}/metrics/cores_test.c", "SP_DOUBT_switches"),
        "uneven": (f"{UNIT}/metrics/cores_test.c", "SP_DOUBT_uneven"),
        "spare_cores": (f"{UNIT}/metrics/cores_test.c", "SP_DOUBT_spare_cores"),
        "taken_cores": (f"{UNIT}/metrics/cores_test.c", "SP_DOUBT_taken_cores"),
        "warm_up": (f"{TRAINING}/truth.py", "in the first steps"),
        "unexplained": (f"{UNIT}/metrics/metrics_test.c", "SP_DOUBT_unexplained"),
        "between": (f"{UNIT}/metrics/metrics_test.c", "SP_DOUBT_between"),
        "timed_waits": (f"{UNIT}/metrics/metrics_test.c", "SP_DOUBT_timed_waits"),
        "mixed_steps": (f"{TRAINING}/frameworks.py", "several frameworks"),
        "whole_calls": (f"{UNIT}/metrics/whole_steps_test.c", "SP_DOUBT_whole_calls"),
        "apart": (f"{UNIT}/metrics/metrics_test.c", "SP_DOUBT_apart"),
        "idle_framework": (f"{UNIT}/metrics/metrics_test.c", "SP_DOUBT_idle_framework"),
        "model_alone": (f"{UNIT}/metrics/metrics_test.c", "SP_DOUBT_model_alone"),
        "no_framework": (f"{UNIT}/metrics/metrics_test.c", "SP_DOUBT_no_framework"),
    },
}
# Metrics that are made up reach these in unit tests; the reason why no run is expected to.
UNREACHED = {
    "verdict.def": {
        # rules that no run reaches
    },
    "doubt.def": {
        "few_steps": "a golden run has it; verdict_test.c has both sides of the limit",
        "tails_away": "a run is never read on another machine by a test",
        "unread": "a file that cannot be read needs another user",
        "near": "a cost at its threshold falls on either side of it in each run",
        "outsiders": "other programs have the cores at a time of their own",
        "rare_input": "the same runs are judged by the advice own_rare",
        "unfed": "no test has a forward that is left over, without a loader",
        "unfed_loop": "it is the rule unfed_loop once more",
        "keras_loop": "needs Keras on PyTorch, which only the nightly frameworks have",
        "messages": "the advice loop_messages has its runs, where the answers are messages",
        "unseen_steps": "the runs of frameworks.py have it beside not-recorded",
    },
}


def read(name, folder=SOURCE):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def ids(table, text):
    macro = {"verdict.def": "SP_(?:STATE|RULE)", "doubt.def": "SP_DOUBT"}[table]
    return re.findall(rf"^{macro}\((\w+),", text, re.M)


def tried():
    """The pieces of advice that changes.py tries, and those that have no saving there."""
    text = read(f"{TRAINING}/changes.py")
    cases = text[text.index("\nCASES = {") :].partition("\n}")[0]
    listed = re.findall(r'\*\*cases\("\w+", ((?:"\w+"(?:, )?)+)', cases)
    cases = set(re.findall(r'"(\w+)"', " ".join(listed)))
    unbound = text[text.index("\nUNBOUND = {") + 11 :].partition("\n}")[0] + "\n}"
    named = re.search(r"^NAMED = (\{.*?\})", text, re.M | re.S)[1]
    return cases, ast.literal_eval(unbound) | set(ast.literal_eval(named))


METRIC = re.compile(r"^SP_METRIC\((\w+),", re.M)


def unasked(metrics):
    """Metrics of this text of metric.def that no table and no source asks for."""
    asks = re.compile(r"\b(?:SP_METRIC_|V\(|KNOWN\(|OR_ALL\()(\w+)")
    rows = [row[1] for row in METRIC.finditer(metrics)]
    asked = set(asks.findall(metrics))
    for folder, _, names in os.walk(os.path.join(SOURCE, "analyzer")):
        for name in names:
            if name.endswith((".c", ".h", ".def")) and name != "metric.def":
                text = read(name, folder)
                asked.update(asks.findall(text))
                asked.update(re.findall(r"\w+", text) if ROOM in folder else [])
    return [name for name in rows if name not in asked]


def codes(rules, page):
    """Codes that only one of these texts has, of verdict.def and of code.def."""
    shown = re.findall(r'^SP_(?:CODE|REASON)\("([\w-]+)"', page, re.M)
    first = r'^SP_(?:STATE|RULE)\(\w+, (?:CANNOT\()?"([\w-]+)"'
    judged = {*re.findall(first, rules, re.M), "cannot-tell"}
    for code in judged - set(shown):
        yield f"code.def: no line of the code {code}, which verdict.def has"
    for code in set(shown) - judged:
        yield f"code.def: verdict.def has no code {code}"


class Case(unittest.TestCase):
    def complaints(self, tables):
        """Rows of the tables, which are {file name: text}, that no test expects."""
        cases, unbound = tried()
        advice = ADVICE.findall(tables["advice.def"])
        held = {rule for id, rule, _ in advice if id in cases}
        for id in cases - {id for id, _, _ in advice}:
            yield f"advice.def: no advice {id}, which {TRAINING}/changes.py tries"
        for id, _, columns in advice:
            if id not in cases:
                yield f"advice.def: {id} has no case in {TRAINING}/changes.py: write one"
            if ("NO_SAVING" in columns) != (id in unbound):
                yield f"advice.def: {id} and UNBOUND of {TRAINING}/changes.py differ: NO_SAVING?"
        for table in REACHED:
            rows = ids(table, tables[table])
            known = {**REACHED[table], **UNREACHED[table]}
            for id in rows:
                if id not in known and not (table == "verdict.def" and id in held):
                    yield f"{table}: no run reaches {id}: write a test, and name it in {__file__}"
            for id in set(known) - set(rows):
                yield f"{table}: no row {id}: take it out of {__file__}"
            for id, (path, words) in REACHED[table].items():
                if words not in read(path):
                    yield f"{table}: {path} does not expect {id} any more: {words}"


class Rows(Case):
    def test_each_row_is_expected(self):
        tables = {name: read(f"{ROOM}/{name}") for name in ("advice.def", *REACHED)}
        self.assertEqual(list(self.complaints(tables)), [])

    def test_each_code_is_listed(self):
        found = codes(read(f"{ROOM}/verdict.def"), read(f"{ROOM}/code.def"))
        self.assertEqual(list(found), [])

    def test_each_metric_is_asked_for(self):
        words = "metric.def: nothing asks for {}: use it in a rule, or take it out"
        self.assertEqual([words.format(name) for name in unasked(read(METRICS))], [])


class RowsFind(Case):
    def added(self, table, row):
        tables = {name: read(f"{ROOM}/{name}") for name in ("advice.def", *REACHED)}
        tables[table] += row
        return "\n".join(self.complaints(tables))

    def test_a_row_that_no_test_expects(self):
        found = self.added("doubt.def", 'SP_DOUBT(new, 1, ALWAYS, "new")\n')
        self.assertIn("doubt.def: no run reaches new", found)
        found = self.added("verdict.def", 'SP_RULE(new, "new-bound", HIGH, new_share,\n')
        self.assertIn("verdict.def: no run reaches new", found)
        found = self.added("advice.def", 'SP_ADVICE(new, input, x, ALWAYS,\n\t"new")\n')
        self.assertIn("advice.def: new has no case", found)

    def test_a_code_that_one_table_lacks(self):
        rule, line = 'SP_RULE(new, "new-bound", HIGH,\n', 'SP_CODE("old-bound", "x")\n'
        rules, page = read(f"{ROOM}/verdict.def"), read(f"{ROOM}/code.def")
        lacks = "code.def: no line of the code new-bound, which verdict.def has"
        self.assertEqual([lacks], list(codes(rules + rule, page)))
        lacks = "code.def: verdict.def has no code old-bound"
        self.assertEqual([lacks], list(codes(rules, page + line)))

    def test_a_metric_that_nothing_asks_for(self):
        row = 'SP_METRIC(unused_share, SHARE, "x", "y",\n\tTRAINING, V(steps))\n'
        self.assertEqual(["unused_share"], unasked(read(METRICS) + row))


class Contradictions(unittest.TestCase):
    def compile(self, source, table, old, new):
        """The status and the words of the compiler, with `new` for the first `old` in `table`."""
        text = read(f"{ROOM}/{table}")
        self.assertIn(old, text)
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, ROOM))
            with open(os.path.join(folder, ROOM, table), "w", encoding="utf-8") as file:
                file.write(text.replace(old, new, 1))
            command = [*COMPILER.split(), "-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall"]
            command += ["-Werror", f"-I{folder}", f"-I{SOURCE}", f"{SOURCE}/{ROOM}/{source}"]
            env = {**os.environ, "LC_ALL": "C"}
            done = subprocess.run(command, capture_output=True, text=True, env=env)
        return done.returncode, done.stderr

    def check(self, source, table, old, new, *words):
        status, said = self.compile(source, table, old, new)
        self.assertNotEqual(status, 0, f"{new} compiles")
        self.assertRegex(said, rf"{table}:\d+")
        for word in words:
            self.assertIn(word, said)

    def test_the_tables_compile(self):
        for source in ("rules.c", "saving.c", "judge.c", "whatif.c"):
            self.assertEqual(self.compile(source, "advice.def", "NO_SAVING", "NO_SAVING"), (0, ""))

    def test_advice(self):
        row = "GIVEN(idle_calls)"
        self.check("rules.c", "advice.def", row, "GIVEN(unseen_batches)", "out of its own column")
        self.check("judge.c", "advice.def", row, "GIVEN(idle_cals)", "SP_ADVICE_idle_cals")
        self.check("saving.c", "advice.def", "ALWAYS, NO_SAVING,", "ALWAYS,", "SP_ADVICE")
        self.check("rules.c", "advice.def", "NEVER, NOTHING,", "NEVER,", "SP_ADVICE")
        self.check("saving.c", "advice.def", "ALWAYS, NO_SAVING", "ALWAYS, 0.5", "return")
        self.check("rules.c", "advice.def", "0.3, 1, ALWAYS", "1, 0.3, ALWAYS", "swap least")
        twice = "SP_ADVICE(slow_loader, input", "SP_ADVICE(own_cores, input"
        self.check("rules.c", "advice.def", *twice, "SP_ADVICE_own_cores")

    def test_verdicts(self):
        unfed = "unfed_wait_share, 0.05, ALWAYS, "
        self.check("rules.c", "verdict.def", unfed + "input", unfed + "inputs", "SP_VERDICT_inputs")
        self.check(
            "rules.c", "verdict.def", unfed + "input", unfed + "waiting", "name that other rule"
        )
        self.check("rules.c", "verdict.def", "0.05, 0.20", "0.20, 0.05", "swap them")
        self.check("judge.c", "verdict.def", "ALWAYS, input, WORKERS", "ALWAYS, input", "SP_RULE")
        self.check("judge.c", "verdict.def", "WORKERS, sleeps,", "WORKERS,", "SP_RULE")
        self.check("rules.c", "verdict.def", "WORKERS, sleeps,", "WORKERS, sleep,", "SECOND_sleep")
        self.check("rules.c", "verdict.def", "SP_RULE(unfed,", "SP_RULE(input,", "SP_VERDICT_input")

    def test_doubts(self):
        self.check("judge.c", "doubt.def", "SP_DOUBT(lost, 1, ", "SP_DOUBT(lost, ", "SP_DOUBT")
        self.check("rules.c", "doubt.def", "SP_DOUBT(lost,", "SP_DOUBT(near,", "SP_DOUBT_near")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
