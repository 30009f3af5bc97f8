# SPDX-License-Identifier: Apache-2.0
"""same_answers finds what it is for: a report equals itself, and a value, a key, a row and an exit
status that changed are found, by view and key. which_rows finds the rows that an account needs."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
REPORT = os.environ["STAGEPROF_TEST_REPORT"]
GOLDEN = os.path.join(HERE, "..", "golden", "v2")


def same_answers(new, *options):
    command = [sys.executable, os.path.join(HERE, "same_answers"), REPORT, new, GOLDEN, *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout


def edited(folder, edit):
    """A report whose JSON goes through sed."""
    path = os.path.join(folder, "report")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n'{REPORT}' \"$@\" | sed '{edit}'\n")
    os.chmod(path, 0o755)
    return path


class WhichRows(unittest.TestCase):
    def test_the_row_that_makes_the_forward(self):
        command = [os.path.join(HERE, "which_rows"), os.environ["STAGEPROF_TEST_BUILD"]]
        command = [sys.executable, *command, os.path.join(GOLDEN, "ranks.zst")]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        rows = r"^analyzer/steps/step.def:\d+: (SP_.*)\n    without it: (.*)$"
        found = dict(re.findall(rows, done.stdout, re.M))
        gaps = {row.rsplit(", ", 2)[-1]: made for row, made in found.items() if "SP_GAP(" in row}
        made = "forward 160.0 ms -> 0.0 ms; other 0.0 ms -> 160.0 ms"
        self.assertEqual(gaps, {"forward": made})


class SameAnswers(unittest.TestCase):
    def found(self, edit, *options):
        with tempfile.TemporaryDirectory() as folder:
            return same_answers(edited(folder, edit), "--views=stages,threads", *options)

    def test_a_report_equals_itself_in_every_view(self):
        status, printed = same_answers(REPORT)
        self.assertEqual(0, status, printed)
        self.assertRegex(printed, r"\A3 runs, \d+ outputs: the same\n\Z")

    def test_a_changed_value_is_found_by_view_and_key(self):
        status, printed = self.found('s/"pid":100\\b/"pid":7/')
        self.assertEqual(1, status)
        self.assertRegex(printed, r"(?m)^threads: threads\[\]\.pid: .*/run\.zst: 100 -> 7$")
        self.assertIn("they differ", printed)

    def test_an_ignored_key_is_left_out(self):
        status, printed = self.found('s/"pid":100\\b/"pid":7/', "--ignore=pid")
        self.assertEqual(0, status, printed)

    def test_a_renamed_key_is_found_both_ways(self):
        _, printed = self.found('s/"pid":/"number":/')
        self.assertRegex(printed, r"(?m)^threads: threads\[\]\.pid: .* -> \"\(none\)\"$")
        self.assertRegex(printed, r"(?m)^threads: threads\[\]\.number: .*: \"\(none\)\" -> ")

    def test_a_row_less_is_one_difference(self):
        _, printed = self.found('/^{"stage":"file_read"/d')
        self.assertRegex(printed, r"(?m)^stages: stages\[\]: .*: \"\d+ elements\" -> ")
        self.assertRegex(printed, r'(?m)^stages: stages\[\]: .*"file_read".* -> "\(none\)"$')
        self.assertNotRegex(printed, r"(?m)^stages: stages\[\]\.")

    def test_output_that_is_no_json_is_found(self):
        status, printed = self.found("1d")
        self.assertEqual(1, status)
        self.assertRegex(printed, r"(?m)^stages: output: ")

    def test_an_exit_status_is_found(self):
        status, printed = same_answers("/bin/false", "--views=stages")
        self.assertEqual(1, status)
        self.assertRegex(printed, r"(?m)^stages: exit status: .*: 0 -> 1$")

    def test_a_folder_without_runs_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, os.path.join(HERE, "same_answers"), REPORT, REPORT, folder]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        self.assertEqual(2, done.returncode)


if __name__ == "__main__":
    unittest.main()
