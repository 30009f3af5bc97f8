# SPDX-License-Identifier: Apache-2.0
"""The HTML page in a real browser: what it shows is what --format=json says, whatever the run's
names hold.

page.py WORK    records what it needs into WORK
"""

import json
import os
import re
import socket
import subprocess
import sys
import unittest

import chromium
import scene

BYTES_MAX = 2 * 1000 * 1000
ORDINARY_BYTES_MAX = 1000 * 1000
TIMELINE_EVENTS = 8000  # room for the events of all lanes, inside the window and outside
VIEWS = "steps epochs stages workers functions whatif ranks sync ranges modules ops files stacks processes threads info".split()
work = None


def embedded(browser):
    """The page's data, as its own script reads it."""
    texts = browser.do("""
        const all = {};
        for (const e of document.querySelectorAll('script[type="application/json"]'))
            all[e.id.slice(5)] = e.textContent;
        return all;""")
    return {
        name: json.loads(text) for name, text in texts.items()
    }  # here, where integers have all their digits


def cells(browser, table, only_shown=True):
    return browser.do(f"""
        const rows = document.querySelector('table[data-table="{table}"]').tBodies[0].rows;
        return Array.from(rows).filter((row) => !row.hidden || {str(not only_shown).lower()})
            .map((row) => Array.from(row.cells).map((cell) => cell.textContent));""")


def stages_shown(run):
    """Samples of memory are a stage for programs alone."""
    return [row for row in scene.view("stages", run)["stages"] if row["stage"] != "memory"]


def luminance(color):
    parts = [int(x) / 255 for x in re.findall(r"\d+", color)[:3]]
    r, g, b = (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    """WCAG 2.2, section 1.4.3."""
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


class Page(unittest.TestCase):
    """One browser for all; each test opens a page again."""

    @classmethod
    def setUpClass(cls):
        cls.run_path = scene.train(work, "whole", 2, 12)
        cls.page = scene.page(work, cls.run_path)
        cls.browser = chromium.Chromium()
        cls.browser.window(1280, 900)

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()

    def setUp(self):
        self.browser.scripts(True)
        self.browser.theme("light")
        self.browser.open(self.page)

    def tearDown(self):
        self.assert_quiet()

    def assert_quiet(self):
        """Nothing on the console, no dialogue, and no request but the page's own and what is in it.
        """
        self.assertEqual(self.browser.console, [])
        self.assertEqual(
            [url for url in self.browser.network if not re.match("data:image/png;|file://", url)],
            [],
        )
        self.assertEqual(sum(url.startswith("file:") for url in self.browser.network), 1)

    def assert_data(self, run):
        """Each view's rows, from the first, are those of --format=json."""
        page = embedded(self.browser)
        summary = scene.view("summary", run)
        for key, source in (
            ("run", "run"),
            ("account", "account"),
            ("steps", "account"),
            ("verdict", "verdict"),
            ("advice", "verdict"),
        ):
            self.assertEqual(page[source][key], summary[key], key)
        for name in VIEWS:
            whole = scene.view(name, run)
            for key, value in page[name].items():
                if isinstance(value, list):
                    self.assertEqual(value, whole[key][: len(value)], name)
                    self.assertTrue(value or not whole[key], name)
                else:
                    self.assertEqual(value, whole[key], name)
        return page

    def test_numbers_are_those_of_json(self):
        page = self.assert_data(self.run_path)
        self.assertEqual(len(page["steps"]["steps"]), 24)
        self.assertEqual(len(page["epochs"]["epochs"]), 2)

    def test_tables_show_what_the_terminal_shows(self):
        for name, table in (
            ("stages", "stages"),
            ("epochs", "epochs"),
            ("workers", "workers"),
            ("steps", "steps"),
        ):
            text = scene.report(
                name, "--format=table", "--width=0", "--limit=all", "--all", self.run_path
            ).decode()
            lines = [line.split() for line in text.splitlines()]
            for row in cells(self.browser, table):
                self.assertIn(" ".join(row).split(), lines, name)

    def test_step_chart_draws_the_steps(self):
        steps = scene.view("steps", self.run_path)["steps"]
        drawn = self.browser.do("""
            const chart = Page.steps.chart, points = [];
            for (let i = 0; i < chart.numRows(); i++)
                points.push([chart.getValue(i, 0), chart.getValue(i, 1)]);
            return points;""")
        self.assertEqual([y for _, y in drawn if y is not None], [s["wall_ns"] for s in steps])
        self.assertEqual(
            [round(x * 1e9) for x, y in drawn if y is not None], [s["start_ns"] for s in steps]
        )
        self.assertEqual(sum(y is None for _, y in drawn), 1)  # between the epochs
        shown = self.browser.do(
            """
            const select = document.querySelector("#steps-chart select");
            select.value = "loader_wait";
            select.dispatchEvent(new Event("change"));
            return Page.steps.steps.map((s, i) => Page.steps.chart.getValue(Page.steps.rowOf[i], 1));"""
        )
        self.assertEqual(shown, [s["parts"]["loader_wait"] for s in steps])

    def test_one_chart_draws_the_memory(self):
        steps = scene.view("steps", self.run_path)["steps"]
        shown = self.browser.do("""
            const chart = Page.memory.chart, rows = [];
            for (let i = 0; i < chart.numRows(); i++)
                rows.push(chart.getLabels().map((label, k) => [label, chart.getValue(i, k)]));
            return rows;""")
        self.assertEqual(len(shown), len(steps))
        for row, step in zip(shown, steps):
            self.assertEqual(
                row[1:], [[key, step[key]] for key in ("rss_bytes", "workers_rss_bytes")]
            )
        for key in ("rss_bytes", "workers_rss_bytes"):
            self.assertTrue(any(step[key] for step in steps), key)
        legend = "document.querySelector('.chart.memory + .legend').textContent"
        said = self.browser.value(legend)
        self.assertRegex(said, "memory of the trainer .*memory of its workers")

    def test_the_first_screen_has_the_answer(self):
        """Headline, bar and advice, above the fold, wide and narrow; and which run it is."""
        verdict = scene.view("summary", self.run_path)["verdict"]
        for width, height in ((1400, 800), (390, 800)):
            self.browser.window(width, height)
            self.browser.open(self.page)
            bottoms = self.browser.do("""
                return ["#verdict h2", "svg.account", ".cards li"].map((s) =>
                    document.querySelector(s).getBoundingClientRect())
                    .map((b) => [b.top, b.height]);""")
            for top, tall in bottoms:
                self.assertGreater(tall, 0)
                self.assertLess(top, height)
            self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth"), width)
            cut = self.browser.do("""
                return Array.from(document.querySelectorAll("svg.account text.inside"))
                    .filter((e) => e.checkVisibility() && e.getBoundingClientRect().right >
                        e.parentElement.querySelector("rect").getBoundingClientRect().right)
                    .map((e) => e.textContent);""")
            self.assertEqual(cut, [])
        self.browser.window(1280, 900)
        text = lambda what: self.browser.value(f"document.querySelector('{what}').textContent")
        self.assertIn(verdict["text"], text("#verdict h2"))
        code = verdict["code"].removesuffix("-bound")
        greatest = f"{verdict['greatest_phase'].capitalize()} {100 * verdict['greatest_share']:.0f}%"
        titles = (verdict["code"], f"{verdict['code']}: {verdict['reason']}", f"{greatest}; gain: {code}")
        self.assertIn(text("title"), [f"{title} \u2013 whole.zst" for title in titles])
        self.assertEqual(text("h1"), "whole.zst")
        self.assertIn("trainer.py", text("header"))
        self.assertRegex(text("header"), r"A run that began [-0-9]{10} [:0-9]{8} UTC \u00b7 \S")
        self.assertIn(socket.gethostname(), text("header"))
        self.assertLess(os.path.getsize(self.page), ORDINARY_BYTES_MAX)

    def test_the_first_screen_has_the_doubts(self):
        verdict = scene.view("summary", self.run_path)["verdict"]
        text = self.browser.value("document.querySelector('#verdict .about').textContent")
        severity = f"severity {verdict['severity']}; " if verdict["severity"] else ""
        self.assertTrue(text.startswith(f"{severity}confidence {verdict['confidence']}"), text)
        self.assertEqual(": " in text, bool(verdict["doubts"]))
        card = scene.report("summary", self.run_path).decode()
        sums = re.findall(r"(?m)^input wait +([\d.]+% = .*)$", card)
        shown = "Array.from(document.querySelectorAll('#verdict .sum'), (e) => e.textContent)"
        self.assertEqual(len(self.browser.value(shown)), len(sums))
        for whole, said in zip(self.browser.value(shown), sums):
            self.assertIn(said, whole)

    def test_a_row_of_the_account_has_the_color_of_its_part(self):
        """Phases that the run lacks have no row, and those of no time no part of the bar."""
        seen = self.browser.do("""
            const fill = (e) => getComputedStyle(e).getPropertyValue("--fill");
            const rows = {}, bar = {};
            for (const row of document.querySelectorAll('table[data-table="account"] tbody tr'))
                rows[row.cells[0].textContent] = [fill(row),
                    getComputedStyle(row.cells[0], "::before").content];
            for (const part of document.querySelectorAll("svg.account svg"))
                bar[part.querySelector("title").textContent.split(":")[0]] = fill(part);
            return [rows, bar];""")
        rows, bar = seen
        self.assertGreater(len(bar), 4)
        self.assertIn("other", bar)
        for part, color in bar.items():
            self.assertEqual(rows[part], [color, '""'])
        self.assertEqual(rows["together"][1], "none")
        self.assertEqual(len({color for color, _ in rows.values()}), len(rows))

    def test_links_lead_to_what_is_there(self):
        links = self.browser.value(
            "Array.from(document.querySelectorAll('nav a'), (a) => a.hash.slice(1))"
        )
        sections = self.browser.value(
            "Array.from(document.querySelectorAll('main > section'), (s) => s.id)"
        )
        self.assertEqual(links, sections)
        self.assertNotIn("ranks", links)  # one process trains
        self.assertNotIn("sync", links)  # and no GPU
        self.browser.do("location.hash = '#files';")
        box = lambda what: self.browser.value(
            f"document.querySelector('{what}').getBoundingClientRect().toJSON()"
        )
        self.assertGreaterEqual(box("#files h2")["top"], box("nav")["bottom"])

    def test_phases_fill_the_steps(self):
        steps = scene.view("steps", self.run_path)["steps"]
        strip = self.browser.value("Page.lanes.strip.map((p) => [p.from, p.to, p.part])")
        for step in steps:
            begin, end = step["start_ns"], step["start_ns"] + step["wall_ns"]
            inside = [p for p in strip if begin <= p[0] < end]
            self.assertEqual(sum(p[1] - p[0] for p in inside), step["wall_ns"])
            self.assertEqual(inside[0][0], step["start_ns"])
            for a, b in zip(inside, inside[1:]):
                self.assertEqual(a[1], b[0])
            for i, part in enumerate(embedded(self.browser)["training"]["parts"]):
                ns = sum(p[1] - p[0] for p in inside if p[2] == i)
                self.assertEqual(ns, step["parts"].get(part["part"]) or 0, part)

    def test_lanes_are_searched_and_revealed(self):
        self.browser.do("""
            Page.lanes.show([0, 0.001]);
            const input = document.querySelector("#lanes-chart input[type=search]");
            input.value = "backward";
            input.dispatchEvent(new Event("input"));""")
        events = self.browser.value("""Page.lanes.lanes.flatMap((l) => l.rows.flat())
            .filter((e) => (e.name + e.kind).includes("backward")).map((e) => [e.from, e.to])""")
        said = "document.querySelector('#lanes-chart .readout').textContent"
        self.assertRegex(self.browser.value(said), f"^{len(events)} events, together ")
        self.browser.do("Page.lanes.nextFound();")
        self.assertRegex(self.browser.value(said), f"^1 / {len(events)} events")
        self.assertIn("backward", self.browser.value("Page.lanes.chosen.event.name"))
        at = self.browser.value("(Page.lanes.chosen.event.from + Page.lanes.chosen.event.to) / 2e9")
        low, high = self.browser.value("Page.lanes.range()")
        self.assertTrue(low <= at <= high, (low, at, high))
        first = self.browser.value("Page.lanes.chosen.event.from")
        self.browser.do("Page.lanes.nextFound();")
        self.assertGreater(self.browser.value("Page.lanes.chosen.event.from"), first)
        self.browser.do("document.querySelector('.lanes').focus();")
        self.browser.key("f")
        low, high = self.browser.value("Page.lanes.range()")
        event = self.browser.value("Page.lanes.chosen.event")
        self.assertAlmostEqual((high - low) * 1e9 / (event["to"] - event["from"]), 1.4, 1)
        self.browser.do("""Array.from(document.querySelectorAll("#timeline button"))
            .find((b) => b.textContent === "All matches").click();""")
        low, high = (1e9 * at for at in self.browser.value("Page.lanes.range()"))
        self.assertTrue(all(low <= a and b <= high for a, b in events), (low, high))
        hidden = "document.querySelector('#timeline .help').hidden"
        self.assertTrue(self.browser.value(hidden))
        self.browser.key("?")
        self.assertFalse(self.browser.value(hidden))

    def test_lanes_fold_and_idle_is_idle(self):
        self.browser.do("Page.lanes.show([0, 0.001]);")
        folded = self.browser.value("Page.lanes.lanes.map((l) => l.isFolded)")
        self.assertFalse(folded[0])
        self.assertTrue(any(folded))
        names = self.browser.value("""Page.lanes.lanes.filter((l) => l.lane.role === "worker")
            .flatMap((l) => l.rows.flat()).filter((e) => e.stage === "ipc_read").map((e) => e.name)""")
        self.assertEqual(set(names), {"idle"})

    def drag(self, chart, more):
        """From the middle of a chart to the left by a fifth of it. Returns that part."""
        left, top, width, height = self.browser.do(f"""
            const chart = document.querySelector("{chart}");
            chart.scrollIntoView({{block: "center"}});
            const b = chart.getBoundingClientRect();
            return [b.left, b.top, b.width, b.height];""")
        y = top + height / 3
        for kind, part, buttons in (("Pressed", 0.5, 1), ("Moved", 0.3, 1), ("Released", 0.3, 0)):
            words = {"button": "left", "clickCount": 1, "buttons": buttons, **more}
            self.browser.mouse(f"mouse{kind}", left + part * width, y, **words)
        return 0.2

    def test_lanes_are_dragged(self):
        self.browser.do("Page.lanes.show([0.4 * Page.lanes.end, 0.6 * Page.lanes.end]);")
        low, high = self.browser.value("Page.lanes.range()")
        part = self.drag("#lanes-chart .chart", {})
        after = self.browser.value("Page.lanes.range()")
        self.assertAlmostEqual(after[1] - after[0], high - low, 6)
        self.assertAlmostEqual((after[0] - low) / (high - low), part, delta=0.02)
        for _ in range(30):
            self.drag("#lanes-chart .chart", {})
        end = self.browser.value("Page.lanes.end")
        self.assertAlmostEqual(self.browser.value("Page.lanes.range()")[1] / end, 1, 6)
        self.drag("#lanes-chart .chart", {"modifiers": 8})  # Shift
        width = self.browser.value("Page.lanes.width()")
        self.assertAlmostEqual(width / (high - low), part, delta=0.02)

    def test_pipes_are_called_by_what_they_join(self):
        pids = self.browser.value("Page.lanes.lanes.map((l) => l.lane.pid)")
        names = set(self.browser.value("""Page.lanes.lanes.flatMap((l) => l.rows.flat())
            .map((e) => e.name).filter((name) => name.startsWith("pipe: "))"""))
        self.assertTrue(names)
        for name in names:
            joined = re.findall(r"(?:trainer|worker|\S+) (\d+)", name)
            self.assertGreater(len(joined), 1, name)
            self.assertLessEqual({int(pid) for pid in joined}, set(pids))

    def test_step_chart_zooms(self):
        chart = "Page.steps.chart.xAxisRange()"
        before = self.browser.value(chart)
        box = self.browser.do("""
            const chart = document.querySelector("#steps-chart .chart");
            chart.scrollIntoView({block: "center"});
            const b = chart.getBoundingClientRect();
            return [b.left, b.top, b.width, b.height];""")
        left, right, y = box[0] + box[2] * 0.4, box[0] + box[2] * 0.7, box[1] + box[3] / 2
        self.browser.mouse("mousePressed", left, y, button="left", clickCount=1, buttons=1)
        self.browser.mouse("mouseMoved", right, y, button="left", buttons=1)
        self.browser.mouse("mouseReleased", right, y, button="left", clickCount=1)
        after = self.browser.value(chart)
        self.assertLess(after[1] - after[0], 0.5 * (before[1] - before[0]))
        self.browser.do("document.querySelector('#steps-chart .chart').focus();")
        self.browser.key("Home")
        self.assertEqual(self.browser.value(chart), before)
        at = self.browser.value("Page.steps.at ?? -1")  # what the pointer is over
        self.browser.key("ArrowRight")
        step = scene.view("steps", self.run_path)["steps"][at + 1]
        self.assertIn(
            f"Step {at + 1}, epoch {step['epoch']}, {step['kind']}",
            self.browser.value("document.querySelector('#steps-chart .readout').textContent"),
        )

    def test_steps_over_twice_the_median_are_told(self):
        steps = scene.view("steps", self.run_path)["steps"]
        slow_ns = embedded(self.browser)["training"]["slow_ns"]
        slow = [s["index"] for s in steps if s["wall_ns"] > slow_ns]
        self.assertIn(6, [i % 12 for i in slow])  # the trainer sleeps in it
        marks = self.browser.value(
            "Array.from(document.querySelectorAll('svg.steps .slow title'), (e) => e.textContent)"
        )
        self.assertEqual([int(re.match(r"step (\d+):", m)[1]) for m in marks], slow)

    def test_validation_and_epochs_are_drawn(self):
        trainer = embedded(self.browser)["training"]["trainers"][0]
        epochs = scene.view("epochs", self.run_path)["epochs"]
        bands = [p for p in trainer["pauses"] if p["is_validation"]]
        self.assertEqual(len(bands), 2)
        for band, epoch in zip(bands, epochs):
            self.assertLessEqual(band["end_ns"] - band["start_ns"] - epoch["validation_ns"], 1e9)
        still = self.browser.value(
            "Array.from(document.querySelectorAll('svg.steps .axis'), (e) => e.textContent)"
        )
        self.assertEqual(still, ["epoch 0", "epoch 1"])

    def test_lanes_hold_single_events(self):
        timeline = embedded(self.browser)["timeline"]
        dump = scene.view("dump", self.run_path)["events"]
        known = {
            (e["pid"], e["tid"], e["start_ns"], e["dur_ns"], e["event"], e["stage"]) for e in dump
        }
        roles = [lane["role"] for lane in timeline["lanes"]]
        self.assertEqual(roles[0], "trainer")
        self.assertEqual(roles.count("worker"), 4)
        room = TIMELINE_EVENTS // (2 * len(roles))
        for lane in timeline["lanes"]:
            events = lane["inside"] + lane["outside"]
            mine = [
                e
                for e in dump
                if e["pid"] == lane["pid"] and e["tid"] == lane["tid"]
                # not of what the process was before an exec, or became by one
                and lane["start_ns"] <= e["start_ns"] <= lane["end_ns"]
            ]
            self.assertEqual(lane["inside_seen"] + lane["outside_seen"], len(mine))
            self.assertEqual(len(lane["inside"]), min(lane["inside_seen"], room))
            for start, dur, kind, stage, _, _ in events:
                row = (
                    lane["pid"],
                    lane["tid"],
                    start,
                    dur,
                    timeline["kinds"][str(kind)],
                    timeline["stages"][stage],
                )
                self.assertIn(row, known)
        window = timeline["window"]
        steps = scene.view("steps", self.run_path)["steps"]
        self.assertEqual(window["slowest_step"], max(steps, key=lambda s: s["wall_ns"])["index"])

    def test_lanes_zoom_down_to_one_event(self):
        width = "Page.lanes.width()"
        before = self.browser.value(width)
        self.browser.do(
            "document.querySelector('.lanes').scrollIntoView({block: 'center'}); document.querySelector('.lanes').focus();"
        )
        for key in ("ArrowDown", ".", "."):
            self.browser.key(key)
        event = self.browser.value("Page.lanes.chosen.event")
        for _ in range(60):
            if self.browser.value("Page.lanes.chosen.event.dur * Page.lanes.view.scale") > 200:
                break
            self.browser.do(
                "const e = Page.lanes.chosen.event; Page.lanes.zoom(0.5, (e.from + e.to) / 2e9);"
            )
        self.assertLess(self.browser.value(width), before)
        self.assertGreater(
            self.browser.value("Page.lanes.chosen.event.dur * Page.lanes.view.scale"), 200
        )
        # the pointer finds it where it is drawn
        where = self.browser.do("""
            const {event, item, row} = Page.lanes.chosen, box = Page.lanes.canvas.getBoundingClientRect();
            Page.lanes.chosen = null;
            return [box.left + Page.lanes.x((event.from + event.to) / 2),
                box.top + Page.lanes.view.area.y + item.y + (row + 0.5) * Page.Lanes.ROW];""")
        self.browser.mouse("mouseMoved", *where)
        self.assertEqual(self.browser.value("Page.lanes.chosen.event"), event)
        self.assertIn(
            event["kind"],
            self.browser.value("document.querySelector('#lanes-chart .readout').textContent"),
        )
        self.browser.key("Home")
        self.assertAlmostEqual(
            self.browser.value(width), embedded(self.browser)["timeline"]["wall_ns"] / 1e9, 6
        )

    def test_tables_sort_by_numbers(self):
        rows = stages_shown(self.run_path)
        calls = lambda: [int(r[1].replace(",", "")) for r in cells(self.browser, "stages")]
        click = (
            "document.querySelector('table[data-table=stages] th[data-key=calls] button').click()"
        )
        order = "document.querySelector('table[data-table=stages] th[data-key=calls]').ariaSort"
        unsorted = [r["calls"] for r in rows]
        self.assertNotEqual(unsorted, sorted(unsorted, reverse=True))
        for expected, name in (
            (sorted(unsorted, reverse=True), "descending"),
            (sorted(unsorted), "ascending"),
            (unsorted, "none"),
        ):
            self.browser.do(click)
            self.assertEqual((calls(), self.browser.value(order)), (expected, name))

    def test_tables_filter(self):
        self.browser.do("""
            const input = document.querySelector("#stages .filter input");
            input.value = "FILE read";
            input.dispatchEvent(new Event("input"));""")
        shown = cells(self.browser, "stages")
        self.assertTrue(shown)
        self.assertTrue(all("file" in " ".join(r) and "read" in " ".join(r) for r in shown), shown)
        self.assertLess(len(shown), len(cells(self.browser, "stages", only_shown=False)))

    def test_light_and_dark(self):
        seen = set()
        for theme in ("light", "dark"):
            self.browser.theme(theme)
            color = lambda name: self.browser.value(f"Page.color('{name}')")
            paper = color("paper")
            self.assertEqual(
                self.browser.value("getComputedStyle(document.body).backgroundColor"), paper
            )
            seen.add(paper)
            for name in ("ink", "muted", "accent", "alarm"):
                self.assertGreaterEqual(contrast(color(name), paper), 4.5, (theme, name))
                self.assertGreaterEqual(contrast(color(name), color("card")), 4.5, (theme, name))
            for name in [f"part-{i}" for i in range(16)] + [
                "group-" + g for g in "range files decode gpu wait other".split()
            ]:
                self.assertGreaterEqual(contrast(color("ink"), color(name)), 4.5, (theme, name))
        self.assertEqual(len(seen), 2)
        self.browser.do("for (let i = 0; i < 1; i++) document.getElementById('theme').click();")
        self.assertEqual(
            self.browser.value("getComputedStyle(document.body).backgroundColor"),
            "rgb(255, 255, 255)",
        )

    def test_paper(self):
        shown = (
            "Array.from(document.querySelectorAll('nav, #steps-chart, .still, .tools'), "
            "(e) => e.className + e.id + ' ' + (e.offsetParent !== null))"
        )
        self.browser.call(
            "Emulation.setEmulatedMedia",
            media="print",
            features=[{"name": "prefers-color-scheme", "value": "dark"}],
        )
        states = self.browser.value(shown)
        paper = self.browser.value("getComputedStyle(document.body).backgroundColor")
        self.browser.call("Emulation.setEmulatedMedia", media="")
        self.assertTrue(all(s.endswith("true") == s.startswith("still") for s in states), states)
        self.assertEqual(paper, "rgb(255, 255, 255)")
        path = os.path.join(work, "page.pdf")
        self.browser.paper(path)
        self.assertGreater(os.path.getsize(path), 20000)

    def test_without_script(self):
        self.browser.scripts(False)
        self.browser.open(self.page)
        # the debugger's own script is not the page's
        rows = cells(self.browser, "stages")
        self.assertEqual(len(rows), len(stages_shown(self.run_path)))
        self.assertEqual(self.browser.value("typeof Page"), "undefined")
        heights = self.browser.value(
            "Array.from(document.querySelectorAll('svg.account, svg.steps, noscript'), "
            "(e) => e.getBoundingClientRect().height)"
        )
        self.assertEqual(len(heights), 3)
        self.assertTrue(all(h > 10 for h in heights), heights)

    def assert_harmless(self, path):
        with open(path, "rb") as file:
            text = file.read().decode("utf-8")
        self.assertEqual(
            re.findall("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\u2028\u2029]", text), []
        )
        self.assertRegex(
            self.browser.value("document.title"), "^[A-Za-z0-9;:% -]+ \u2013 (whole|hostile).zst$"
        )
        self.assertEqual(
            self.browser.value("""Array.from(document.querySelectorAll(
            "main img, main iframe, main script:not([type]), main [onerror], main [onmouseover], main b"))
            .filter((e) => !e.closest(".live")).length"""),
            0,
        )

    def test_hostile_labels_stay_text(self):
        self.assert_harmless(self.page)
        label = "forward </script><img src=x onerror=alert(1)>"
        self.assertIn(label, [row[0].strip() for row in cells(self.browser, "ranges")])
        self.assertIn(label, [r["name"] for r in embedded(self.browser)["ranges"]["ranges"]])
        self.assertIn(label, embedded(self.browser)["timeline"]["names"])

    def test_hostile_names_stay_text(self):
        run = scene.read_hostile(work)
        path = scene.page(work, run)
        self.browser.open(path)
        self.assert_harmless(path)
        self.assert_data(run)
        shown = [row[0] for row in cells(self.browser, "files")]
        folder = os.path.join(work, "files") + "/"
        for name in (
            "plain.jpg",
            "<script>document.title='taken'<!script>.jpg",
            "--><img src=x onerror=alert(1)>.jpg",
            "' onmouseover='alert(1)' \" x=\".jpg",
            "]]>&lt;b&gt;&amp;&#60;.jpg",
            "right\\u{202E}gpj.to\\u{2066}left.jpg",
            "escape\\x1B[31mred\\x1B]0;title\\x07.jpg",
            "new\\x0Aline\\x09tab\\x0Dreturn.jpg",
            "not\\xFFutf8\\xC3(.jpg",
        ):
            self.assertIn(folder + name, shown)
        self.assertTrue(any("..." in name and name.endswith("long.jpg") for name in shown))
        self.assertIn(
            "</script><img src=x onerror=alert(2)>",
            self.browser.value("document.getElementById('run').textContent"),
        )

    def test_a_killed_run(self):
        run = scene.train(work, "killed", 50, 12, kill_after="epoch 0")
        self.browser.open(scene.page(work, run))
        page = self.assert_data(run)
        self.assertGreaterEqual(len(page["steps"]["steps"]), 12)
        self.assertGreater(page["run"]["run"]["threads_not_ended"], 0)
        self.assertIn("killed", self.browser.value("document.getElementById('run').textContent"))

    def test_a_large_run_has_a_bounded_page(self):
        run = scene.make_large(work)
        path = scene.page(work, run)
        self.assertLess(os.path.getsize(path), BYTES_MAX)
        self.browser.open(path)
        page = embedded(self.browser)
        files = len(page["files"]["files"])
        self.assertTrue(
            self.browser.value(
                "document.getElementById('files').textContent"
                ".includes('more rows are not on this page')"
            )
        )
        self.assertEqual(page["files"]["files"], scene.view("files", run)["files"][:files])
        lanes = page["timeline"]["lanes"]
        kept = sum(len(lane["outside"]) for lane in lanes)
        seen = sum(lane["outside_seen"] for lane in lanes)
        self.assertLess(kept, seen)
        self.assertIn(
            f"the longest {kept:,} of {seen:,} events",
            self.browser.value("document.querySelector('#timeline .left-out').textContent"),
        )

    def flame(self):
        """Text, share of the width and mark of each function that is drawn."""
        return self.browser.do("""
            return Array.from(document.querySelectorAll("#flame-chart .flame button")).map(
                (b) => [b.textContent, parseFloat(b.style.width), b.className, b.title]);""")

    def test_flame_graph(self):
        run = scene.sample_shares(work)
        self.browser.open(scene.page(work, run))
        rows = scene.view("functions", run)["functions"]
        whole = sum(row["own_ns"] for row in rows)
        spin = sum(row["total_ns"] for row in rows if row["function"] == "spin")
        drawn = self.flame()
        self.assertEqual(drawn[0][:2], ["all phases", 100])
        self.assertAlmostEqual(
            sum(width for name, width, *_ in drawn if name == "spin"), 100 * spin / whole, delta=1
        )
        forty = next(row for row in rows if row["function"] == "forty")
        self.assertAlmostEqual(
            sum(width for name, width, *_ in drawn if name == "forty"),
            100 * forty["total_ns"] / whole,
            delta=0.5,
        )
        self.browser.do("""
            const input = document.querySelector("#flame-chart input");
            input.value = "forty";
            input.dispatchEvent(new Event("input"));""")
        self.assertEqual({name for name, _, mark, _ in self.flame() if mark == "found"}, {"forty"})
        found = self.browser.value("document.querySelector('#flame-chart .count').textContent")
        self.assertIn(f"{100 * forty['total_ns'] / whole:.1f}%", found)
        self.browser.do("""
            Array.from(document.querySelectorAll("#flame-chart .flame button"))
                .find((b) => b.textContent === "forty").click();""")
        zoomed = {name: width for name, width, *_ in self.flame()}
        self.assertEqual(zoomed["forty"], 100)
        self.assertNotIn("twenty", zoomed)
        self.assertIn("ten_inside", zoomed)
        phases = {row["phase"] for row in rows}
        self.browser.do("""
            const select = document.querySelector("#flame-chart select");
            select.value = "forward";
            select.dispatchEvent(new Event("change"));""")
        self.assertNotIn("forward", phases)
        self.assertEqual(self.flame(), [])

    def test_a_training_with_samples(self):
        """The line, its text, and the functions beside the bar; the flame graph opens on them."""
        run = scene.sample_training(work)
        path = scene.page(work, run)
        self.assertLess(os.path.getsize(path), ORDINARY_BYTES_MAX)
        self.browser.open(path)
        told = embedded(self.browser)["verdict"]
        account = embedded(self.browser)["account"]["account"]
        functions = self.browser.value("document.querySelector('#verdict .functions').textContent")
        self.assertRegex(functions, r"(%|most) of the input wait is \S*(augment|__getitem__) \(")
        costs = [one["costs"] for one in told["advice"][:3] if one["costs"]]
        cards = self.browser.value("document.querySelector('.cards').textContent")
        for text in costs:
            self.assertIn(text, cards)
        line = next((one["line"] for one in told["advice"] if one["line"]), None)
        drawn = self.flame()
        self.assertEqual(drawn[0][1], 100)
        greatest = max(account, key=lambda row: row["ns"] or 0)["part"]
        phases = embedded(self.browser)["flame"]["phases"]
        part = line["part"] if line and line["part"] in phases else "loader_wait"
        self.assertEqual(drawn[0][0], part if line else greatest)
        if line:  # else other programs had the cores
            with open(line["file"], encoding="utf-8") as file:
                text = file.readlines()[line["line"] - 1].strip()
            quoted = "document.querySelector('.cards .source b').textContent"
            self.assertEqual(self.browser.value(quoted).split(None, 1), [str(line["line"]), text])
        self.assertEqual([t for *_, t in drawn if "<frozen importlib" in t], [])
        modules = {name for name, *_ in drawn if name.startswith("<module>")}
        self.assertIn("<module> trainer.py", modules)
        self.assertNotIn("<module>", modules)

    def test_a_run_without_training(self):
        golden = os.path.join(scene.HERE, "..", "golden", "v2", "run.zst")
        self.browser.open(scene.page(work, golden))
        self.assertIn("no optimizer step was seen", self.browser.value("document.body.textContent"))
        self.assertEqual(self.browser.value("document.querySelectorAll('#steps-chart').length"), 0)
        self.assertGreater(len(cells(self.browser, "stages")), 3)


if __name__ == "__main__":
    if not chromium.find():
        scene.skip("no chromium")
    work = sys.argv.pop(1)
    subprocess.run(["rm", "-rf", work], check=True)
    os.makedirs(work)
    unittest.main()
