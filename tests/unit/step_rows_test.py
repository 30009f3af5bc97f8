#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""step_rows.py finds what it has to find, in made tables."""

import os
import stat
import tempfile
import unittest

import step_rows

SUITE = """#!/bin/sh
[ "$STAGEPROF_TEST_ROW_OFF" != 0 ] || echo "a_test.c:1:F:suite:needed:0: it failed"
"""


class StepRows(unittest.TestCase):
    def judge(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "step.def")
            binary = os.path.join(folder, "unit_analyzer_made")
            with open(path, "w") as file:
                file.write(text)
            with open(binary, "w") as file:
                file.write(SUITE)
            os.chmod(binary, os.stat(binary).st_mode | stat.S_IXUSR)
            listed = step_rows.rows(path)
            said = [step_rows.judge(folder, *row) for row in enumerate(listed)]
            return len(listed), [s for s in said if s] + list(step_rows.contradictions(listed))

    def test_row_with_its_test(self):
        row = 'SP_GAP(BACKWARD, always, forward,\n\t"Why.",\n\tmade, needed)'
        self.assertEqual(self.judge(row), (1, []))

    def test_test_that_passes_without_the_row(self):
        _, said = self.judge('SP_GAP(BACKWARD, always, forward, "Why.", made, another)')
        self.assertIn("passes without the row", said[0])

    def test_suite_that_is_not_there(self):
        _, said = self.judge('SP_GAP(BACKWARD, always, forward, "Why.", none, needed)')
        self.assertIn("no suite none", said[0])

    def test_rows_that_contradict_each_other(self):
        _, said = self.judge(
            'SP_TRANSITION(ANY, T(GRAPH), always, SAME, drop, "Why.", made, needed)\n'
            'SP_TRANSITION(ANY, T(GRAPH), always, SAME, drop, "Why " "not.", made, needed)\n'
        )
        self.assertIn("contradict", said[-1])


if __name__ == "__main__":
    unittest.main()
