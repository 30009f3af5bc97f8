# SPDX-License-Identifier: Apache-2.0
"""Every view and export of a digest: the same bytes as from the runs, the same numbers to four
digits, or one line that says that it needs events."""

import glob
import json
import os
import re
import tempfile
import unittest

import jobs
from jobs import digest, made, report, table

SAME, NEAR, EVENTS = "same bytes", "four digits", "needs events"
VIEWS = {
    "summary": NEAR,
    "card": NEAR,
    "stages": SAME,
    "steps": NEAR,
    "line": NEAR,
    "epochs": NEAR,
    "workers": EVENTS,
    "whatif": EVENTS,
    "hang": SAME,
    "ranks": SAME,
    "ranges": EVENTS,
    "labels": EVENTS,
    "modules": EVENTS,
    "ops": EVENTS,
    "compare": NEAR,
    "processes": SAME,
    "threads": SAME,
    "files": SAME,
    "stacks": EVENTS,
    "sync": EVENTS,
    "kernels": EVENTS,
    "cuda": EVENTS,
    "functions": EVENTS,
    "dump": EVENTS,
    "info": NEAR,
    "html": NEAR,
    "export perfetto": EVENTS,
    "export chrome": EVENTS,
    "export folded": EVENTS,
    "export pprof": EVENTS,
    "export sqlite": EVENTS,
    "export parquet": SAME,  # compared by exports_parquet
}
# Only a run has these: null, another text, or other files.
NOT_IN_DIGESTS = {
    "verdict",
    "advice",
    "what_if",
    "what_ifs",
    "gpu",
    "gpu_time",
    "gpu_busy_ns",
    "gpu_idle_ns",
    "gpu_ns",
    "hidden_wait_ns",
    "lost_wait_ns",
    "memory",
    "rss_bytes",
    "skipped_updates",
    "workers_rss_bytes",
    "file",  # of a call in flight
    "input_files",
    "differences",
}
# Metrics as evidence, and the parts of the account that they add up.
PARTS = {
    "input_wait_share": ["loader_wait"],
    "communication_share": ["grad_sync"],
    "copy_share": ["h2d_copy"],
    "checkpoint_share": ["checkpoint"],
    "validation_share": ["validation"],
    "evaluation_share": ["evaluation", "environment"],
    "compile_share": ["compile"],
    "bookkeeping_share": ["bookkeeping"],
    "compute_share": ["forward", "loss", "backward", "optimizer", "zero_grad", "sync_wait"],
}
METRICS_OF_DIGESTS = {
    *PARTS,
    "steps",
    "step_ns",
    "straggler_share",
    "straggler",
    "end_validation_share",
    "other_share",
    "cannot_tell",
}
SHARE, NS = 1e-3, 2_000  # of a number; instants are whole microseconds


def differences(a, b, where=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted((set(a) | set(b)) - NOT_IN_DIGESTS):
            yield from differences(a.get(key, "none"), b.get(key, "none"), f"{where}.{key}")
    elif isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            yield f"{where}: {len(a)} and {len(b)}"
        if where.endswith(".life"):  # what lies between steps is a small difference of two sums
            whole = sum(part["ns"] for part in a)
            if any(abs(x["ns"] - y["ns"]) > SHARE * whole for x, y in zip(a, b)):
                yield f"{where}: {a} and {b}"
            return
        for i, pair in enumerate(zip(a, b)):
            yield from differences(*pair, f"{where}[{i}]")
    elif isinstance(a, (int, float)) and isinstance(b, (int, float)):
        least = NS if where.endswith("_ns") or isinstance(a, int) and abs(a) > NS else SHARE
        if abs(a - b) > SHARE * abs(a) + least:
            yield f"{where}: {a} and {b}"
    elif a != b:
        yield f"{where}: {a} and {b}"


class Late(unittest.TestCase):
    """To mend one of the ranks that are late together saves nothing, so none is named alone."""

    def check(self, plant, who):
        with tempfile.TemporaryDirectory() as folder:
            runs = made(folder, 32, 150, plant)
            whole = os.path.join(folder, "whole.spd")
            digest(whole, *runs)
            told = json.loads(report("--format=json", *runs)[0])
            found = json.loads(report("--format=json", whole)[0])
        self.assertEqual(told["verdict"]["code"], "communication-bound")
        self.assertIn(f"of a step for {who}, longer in forward", told["verdict"]["text"])
        self.assertIn(f"Look at {who}, longer", told["advice"][0]["text"])
        self.assertIn(f"late: {who}, longer in forward", found["verdict"]["text"])

    def test_a_host(self):
        self.check("host,2,0,forward,2000000", "all ranks of host node-0002")

    def test_a_slot(self):
        self.check("slot,3,0,forward,2000000", "local rank 3 of every host")


class Views(jobs.Job):
    RANKS, STEPS = 16, 150

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.part = cls.path("part.spd")
        digest(cls.part, cls.runs[0])
        cls.inputs = {"a digest": [cls.whole], "a mixture": [cls.part, *cls.runs[1:]]}

    def of(self, answer):
        return [view for view, it in VIEWS.items() if it == answer and " " not in view]

    def test_every_view_is_in_the_table(self):
        exports = table("analyzer/exporters/exporters.def", "SP_EXPORTER")
        names = table("analyzer/views/views.def", "SP_VIEW(?:_BY)?")
        names += [f"export {e}" for e in exports]
        self.assertEqual(sorted(names), sorted(VIEWS))

    def test_same_bytes(self):
        for view in self.of(SAME):
            for form in ("json", "csv"):
                told = report(view, "--format=" + form, *self.runs)[0]
                for name, inputs in self.inputs.items():
                    found = report(view, "--format=" + form, *inputs)[0]
                    self.assertEqual(found, told, (view, form, name))

    def compare_near(self, view, inputs, runs):
        told = json.loads(report(view, "--format=json", "--limit=all", *runs)[0])
        found = json.loads(report(view, "--format=json", "--limit=all", *inputs)[0])
        self.assertEqual(list(differences(told, found))[:5], [], view)

    def test_four_digits(self):
        for view in set(self.of(NEAR)) - {"html", "compare", "card"}:
            for inputs in self.inputs.values():
                self.compare_near(view, inputs, self.runs)

    def test_golden_runs(self):
        """Runs with damage, losses, notes, coverage, files, validation and a GPU."""
        for run in glob.glob(os.path.join(jobs.ROOT, "tests/report/golden/v*/*.zst")):
            path = self.path("golden.spd")
            digest(path, run)
            for view in self.of(NEAR) + self.of(SAME):
                if view not in ("html", "compare", "card"):
                    self.compare_near(view, [path], [run])
            self.assertNotIn("CUPTI", report("-v", path)[0])
            os.unlink(path)

    def test_no_verdict(self):
        """No verdict is given without events, and the account is."""
        for inputs in self.inputs.values():
            told = json.loads(report("--format=json", *inputs)[0])
            self.assertEqual(told["verdict"]["code"], "cannot-tell")
            self.assertEqual(told["verdict"]["reason"], "not-recorded")
            self.assertIn("a digest has none", told["verdict"]["text"])
            self.assertIn("late: rank 5, longer in forward", told["verdict"]["text"])
            self.assertIn("digests    ", report("-v", *inputs)[0])
            self.assertIn("Cannot tell", report("card", *inputs)[0])
        self.assertNotIn("digests    ", report("-v", *self.runs)[0])

    def test_evidence(self):
        """The costs of a digest are those of the account of the runs."""
        golden = glob.glob(os.path.join(jobs.ROOT, "tests/report/golden/v*/*.zst"))
        seen = set()
        for n, runs in enumerate([self.runs, *([run] for run in golden)]):
            path = self.path(f"evidence-{n}.spd")
            digest(path, *runs)
            told = json.loads(report("--format=json", *runs)[0])
            found = json.loads(report("--format=json", path)[0])
            shares = {part["part"]: part["share"] for part in told["account"]}
            for item in found["verdict"]["evidence"]:
                seen.add(item["metric"])
                self.assertIn(item["metric"], METRICS_OF_DIGESTS)
                if item["metric"] in PARTS:
                    parts = [shares[part] or 0 for part in PARTS[item["metric"]]]
                    self.assertAlmostEqual(item["value"], sum(parts), delta=SHARE)
            for what_if in found["what_if"]:
                self.assertIn("a digest has none", what_if["reason"])
        self.assertGreaterEqual(seen, {"input_wait_share", "copy_share", "straggler_share"})
        self.assertGreaterEqual(seen, {"other_share", "step_ns", "steps"})
        told = json.loads(report("--format=json", *self.runs)[0])["verdict"]
        found = json.loads(report("--format=json", self.whole)[0])["verdict"]
        late = [
            [it["value"] for it in one["evidence"] if it["metric"] == "straggler_share"]
            for one in (told, found)
        ]
        self.assertEqual(len(late[0]), 1)
        self.assertAlmostEqual(late[0][0], late[1][0], delta=SHARE)

    def test_metrics(self):
        """The page names the metrics that a digest has, and they are metrics."""
        with open(os.path.join(jobs.ROOT, "docs/DIGEST.md")) as file:
            page = file.read().split("## The verdict")[1].split("\n## ")[0]
        listed = re.findall(r"`(\w+)`", re.search(r"^\| (`.*`) \| yes", page, re.M)[1])
        self.assertEqual(sorted(listed), sorted(METRICS_OF_DIGESTS))
        self.assertLessEqual(
            set(listed), set(table("analyzer/metrics/metric.def", "SP_METRIC"))
        )

    def test_compare(self):
        told = json.loads(report("compare", "--format=json", self.runs[0], self.runs[1])[0])
        found = json.loads(report("compare", "--format=json", self.part, self.runs[1])[0])
        ns = [[run["wall_ns_p50"] for run in it["runs"]] for it in (told, found)]
        self.assertEqual(list(differences(*ns)), [])

    def test_page(self):
        path = self.path("page.html")
        report("html", self.whole, "-o", path)
        with open(path) as file:
            page = file.read()
        self.assertIn("A timeline needs events, and a digest has none.", page)
        self.assertIn('id="data-ranks"', page)
        self.assertIn('id="data-steps"', page)
        for view in ("whatif", "workers", "functions"):
            self.assertNotIn(f'<section id="{view}">', page)

    def test_needs_events(self):
        for view in VIEWS:
            if VIEWS[view] != EVENTS:
                continue
            for inputs in self.inputs.values():
                arguments = view.split()
                if arguments[0] == "export":
                    arguments += ["-o", self.path("out")]
                out, said = report(*arguments, *inputs, status=1)
                self.assertEqual(out, "", view)
                self.assertRegex(said, r"^stageprof-report: .*needs events.*SP217\]\n$", view)
        for selection in ("--steps=3:9", "--from=1", "--epoch=0", "--warmup=3"):
            self.assertIn("SP217", report("ranks", selection, self.whole, status=1)[1])
        self.assertIn("SP217", report("files", "--by=extension", self.whole, status=1)[1])

    def test_many_steps(self):
        """Beyond the steps that are listed the sums are of all trainers, and the view says so."""
        long = made(self.path("long"), 8, 40_000)
        path = self.path("long.spd")
        digest(path, *long)
        out = report("steps", path, "--limit=1")[0]
        self.assertIn("2 more trainers have no rows here", out)
        for view in ("summary", "line"):
            self.compare_near(view, [path], long)


if __name__ == "__main__":
    unittest.main()
