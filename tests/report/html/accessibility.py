# SPDX-License-Identifier: Apache-2.0
"""The page under axe-core: no violation of its rules, in both themes, on a screen and on a
telephone.

accessibility.py WORK    records what it needs into WORK

Environment: that of scene.py, and STAGEPROF_TEST_PYTHON, an interpreter with axe-core-python.
"""

import json
import os
import subprocess
import sys
import unittest

import chromium
import scene

RUN = "axe.run(document).then((result) => JSON.stringify(result.violations))"
FIND = "import axe_core_python, os; print(os.path.dirname(axe_core_python.__file__))"
SIZES = {"screen": (1400, 800), "telephone": (390, 800)}
work = script = None


def find_axe():
    python = os.environ.get("STAGEPROF_TEST_PYTHON") or sys.executable
    found = subprocess.run(
        [python, "-c", FIND], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    if found.returncode != 0:
        scene.skip("no axe-core-python: scripts/test installs it")
    with open(os.path.join(found.stdout.strip(), "axe.min.js")) as file:
        return file.read()


class Accessibility(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = scene.page(work, scene.train(work, "whole", 2, 12))
        cls.browser = chromium.Chromium()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def violations(self):
        self.browser.call("Runtime.evaluate", expression=script)
        answer = self.browser.call("Runtime.evaluate", expression=RUN, awaitPromise=True)
        found = json.loads(answer["result"]["value"])
        return [
            (rule["id"], rule["help"], [node["html"][:200] for node in rule["nodes"][:5]])
            for rule in found
        ]

    def test_no_rule_is_violated(self):
        for theme in ("light", "dark"):
            for name, (width, height) in SIZES.items():
                with self.subTest(f"{theme}, {name}"):
                    self.browser.theme(theme)
                    self.browser.window(width, height)
                    self.browser.open(self.page)
                    self.assertEqual(self.violations(), [])

    def test_the_page_is_no_wider_than_its_screen(self):
        for width, height in SIZES.values():
            self.browser.window(width, height)
            self.browser.open(self.page)
            self.assertLessEqual(self.browser.do("return document.body.scrollWidth;"), width)


if __name__ == "__main__":
    if not chromium.find():
        scene.skip("no chromium")
    chromium.ANSWER_S = 120  # axe-core looks at each element
    work = sys.argv[1]
    os.makedirs(work, exist_ok=True)
    script = find_axe()
    unittest.main(argv=sys.argv[:1])
