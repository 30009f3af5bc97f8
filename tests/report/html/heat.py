# SPDX-License-Identifier: Apache-2.0
"""The picture of ranks and steps in a real browser, of made jobs with a planted straggler and of
their digests.

heat.py WORK    makes what it needs in WORK
"""

import json
import os
import shutil
import subprocess
import sys
import unittest

import chromium
import scene

STRAGGLER, FROM, MORE_NS = 5, 60, 4_000_000
HEAT_BYTES_MAX = 1_000_000
work = None


def job(name, ranks, steps):
    """The page of a made job, by its digest; straggler: a rank, from a step on, in forward."""
    folder = os.path.join(work, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    plant = f"rank,{STRAGGLER},{FROM},forward,{MORE_NS}"
    maker = os.environ["STAGEPROF_TEST_MAKE_JOB"]
    subprocess.run([maker, folder, str(ranks), str(steps), plant], check=True)
    digest, page = folder + ".spd", folder + ".html"
    scene.report("digest", folder, "-o", digest, "--force")
    scene.report("html", digest, "-o", page, "--force")
    return folder, digest, page


class Heat(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_path, cls.digest, cls.page = job("few", 16, 100)
        cls.browser = chromium.Chromium()
        cls.browser.window(1280, 900)

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def setUp(self):
        self.browser.open(self.page)
        self.data = self.read()

    def tearDown(self):
        # The test's own readings of pixels are worth a warning to Chromium.
        said = [line for line in self.browser.console if "getImageData" not in line]
        self.assertEqual(said, [])

    def read(self):
        return json.loads(
            self.browser.do("return document.getElementById('data-heat').textContent;")
        )

    def measure(self, name):
        return next(m for m in self.data["measures"] if m["name"] == name)

    def value(self, measure, order, row, column):
        levels = self.data["levels"]
        level = levels.index(measure["cells"][order][row][column]) / (len(levels) - 1)
        return measure["low_ns"] + level * (measure["high_ns"] - measure["low_ns"])

    def click(self, row, column):
        place = self.browser.do(f"""
            const box = Page.heat.canvas.getBoundingClientRect();
            Page.heat.canvas.scrollIntoView({{ block: "start" }});
            const now = Page.heat.canvas.getBoundingClientRect();
            return [now.left + Page.heat.left + ({column} + 0.5) * Page.heat.wide,
                now.top + ({row} + 0.5) * Page.heat.cell];""")
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.mouse(kind, *place, button="left", clickCount=1)
        return self.browser.do("return Page.heat.readout.textContent;")

    def choose(self, number, index):
        self.browser.do(f"""
            const select = Page.heat.canvas.parentElement.querySelectorAll("select")[{number}];
            select.value = "{index}";
            select.dispatchEvent(new Event("change"));""")

    def pixel(self, row, column):
        return self.browser.do(f"""
            return Array.from(Page.heat.canvas.getContext("2d").getImageData(
                Page.heat.left + ({column} + 0.5) * Page.heat.wide,
                ({row} + 0.5) * Page.heat.cell, 1, 1).data);""")

    def test_cells_are_the_steps(self):
        """A rank's step, as the view of its run has it."""
        steps = scene.view("steps", self.run_path)["steps"]
        pids = {row["pid"]: row["rank"] for row in scene.view("ranks", self.run_path)["ranks"]}
        wall, forward = self.measure("wall"), self.measure("forward")
        near = (wall["high_ns"] - wall["low_ns"]) / 60 + 5_000
        for step in steps:
            row, column = pids[step["pid"]], step["index"]
            self.assertEqual(self.data["columns"][column]["first_step"], column)
            self.assertLess(abs(self.value(wall, 0, row, column) - step["wall_ns"]), near)
            told = self.value(forward, 0, row, column)
            self.assertLess(abs(told - step["parts"]["forward"]), 150_000)

    def test_the_straggler_stands_out(self):
        late = self.measure("lateness")
        for row in range(16):
            for column in range(100):
                is_late = row == STRAGGLER and column >= FROM
                self.assertEqual(self.value(late, 0, row, column) > MORE_NS / 2, is_late)
        first = self.data["rows"][2][0]  # the latest comes first
        self.assertEqual(first["first"]["rank"], STRAGGLER)
        self.assertTrue(first["first"]["straggler"])
        pale, strong = self.pixel(STRAGGLER, 10), self.pixel(STRAGGLER, 90)
        self.assertGreater(sum(abs(a - b) for a, b in zip(pale, strong)), 100)
        self.assertLess(sum(abs(a - b) for a, b in zip(pale, self.pixel(3, 90))), 60)

    def test_a_click_shows_the_step_of_the_rank(self):
        said = self.click(STRAGGLER, 90)
        who = f"rank {STRAGGLER} (node-0000, local rank {STRAGGLER}, pid 1005)"
        self.assertIn(f"{who}, step 90: ", said)
        self.assertRegex(said, r"forward 1[12]\.\d ms")
        self.assertIn("rank 9 (node-0001, local rank 1, pid 1009), step 0:", self.click(9, 0))
        self.choose(1, 2)  # by lateness: the straggler is the first row
        self.assertIn(f"rank {STRAGGLER} (", self.click(0, 7))
        self.browser.do("Page.heat.canvas.focus();")
        self.browser.key("ArrowRight")
        self.assertIn("step 8:", self.browser.do("return Page.heat.readout.textContent;"))

    def test_phases_are_chosen(self):
        names = [m["name"] for m in self.data["measures"]]
        self.assertEqual(names[:2], ["lateness", "wall"])
        for i, name in enumerate(names):
            self.choose(0, i)
            self.assertIn(
                self.measure(name)["title"],
                self.browser.do("return Page.heat.note.textContent;"),
            )

    def test_bands_are_hosts_and_local_ranks(self):
        colors = self.browser.do("""
            const context = Page.heat.canvas.getContext("2d");
            return [0, 1].map((band) => Array.from({ length: 16 }, (_, r) => Array.from(
                context.getImageData(band * 10 + 2, (r + 0.5) * Page.heat.cell, 1, 1).data).join()));""")
        hosts, locals_ = colors
        self.assertEqual([hosts[0] == h for h in hosts], [True] * 8 + [False] * 8)
        self.assertEqual(len(set(locals_)), 8)
        self.assertEqual(locals_[:8], locals_[8:])

    def test_a_run_has_the_picture_of_its_digest(self):
        page = os.path.join(work, "run.html")
        scene.report("html", self.run_path, "-o", page, "--force")
        self.browser.open(page)
        whole = self.read()
        self.assertEqual(whole["rows"], self.data["rows"])
        names = [[m["name"] for m in it["measures"]] for it in (whole, self.data)]
        self.assertEqual(*names)

    def test_many_ranks_stay_small(self):
        """Rows and columns are bins where there are more; the straggler is in the first row, and
        strong in its own."""
        _, _, page = job("many", 1024, 300)
        self.browser.open(page)
        self.data = self.read()
        text = json.dumps(self.data)
        print(f"1,024 ranks, 300 steps: {len(text):,} bytes of {os.path.getsize(page):,}")
        self.assertLess(len(text), HEAT_BYTES_MAX)
        self.assertEqual(len(self.data["rows"][0]), 160)
        self.assertEqual(sum(row["ranks"] for row in self.data["rows"][0]), 1024)
        self.assertEqual(len(self.data["columns"]), 128)
        self.assertEqual(self.data["rows"][2][0]["first"]["rank"], STRAGGLER)
        late = self.measure("lateness")
        strong = {r for r in range(160) if self.value(late, 0, r, 100) > MORE_NS / 2}
        self.assertEqual(strong, {0})
        self.assertIn(f"The latest on the whole: rank {STRAGGLER} (", self.click(0, 100))


if __name__ == "__main__":
    work = sys.argv.pop(1)
    os.makedirs(work, exist_ok=True)
    if not chromium.find():
        scene.skip("no Chromium")
    unittest.main()
