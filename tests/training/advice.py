# SPDX-License-Identifier: Apache-2.0
"""Advice and what-ifs are tested by doing: the change is made, and the gain is measured.

The programs sleep for times of known length and time them: other programs on the machine lengthen
each run by another factor, so a bound is held against what its own run took.
"""

import json
import os
import unittest

import training

PYTHON = training.interpreter()
# The loader's own work, which no timer of ours contains, may put a step beyond a bound: by this
# share, and by the time that it waits for a core.
OFF_MOST = 0.1
WORKERS = (0, 1, 2)


def record(folder, program, **settings):
    """The path of the run."""
    os.makedirs(folder)
    os.environ.update(settings, PYTHONPATH=os.path.join(training.HERE, "programs"))
    done = training.execute([PYTHON, os.path.join(training.HERE, program)], folder)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode())
    with open(os.path.join(folder, "timers"), "wb") as file:
        file.write(done.stdout)
    return os.path.join(folder, "run.zst")


def timers(path):
    with open(os.path.join(os.path.dirname(path), "timers"), encoding="utf-8") as file:
        return json.load(file)


def advice(path):
    return {line["id"]: line["text"] for line in training.report("summary", path)["advice"]}


def answers(path):
    return training.answers(training.report("summary", path))


def what_if(path, name, *options):
    rows = training.report("whatif", path, *options)["what_if"]
    return {row["what_if"]: row for row in rows}[name]


class Case(unittest.TestCase):
    def setUp(self):
        folder = training.tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def record(self, name, program, **settings):
        return record(os.path.join(self.folder, name), program, **settings)


class Workers(Case):
    def test_numbers_of_workers(self):
        runs = {n: self.record(str(n), "advice_workers.py", WORKERS=str(n)) for n in WORKERS}
        for before in WORKERS:
            mine = timers(runs[before])
            for after in WORKERS:
                if before == after:
                    continue
                true = (
                    max(mine["step_ns"], mine["batch_ns"] / after)
                    if after
                    else mine["step_ns"] + mine["batch_ns"]
                )
                off = OFF_MOST * true + mine["core_wait_ns"]
                row = what_if(runs[before], "workers", f"--workers={after}")
                with self.subTest(before=before, after=after, true=true, off=off, row=row):
                    self.assertGreaterEqual(true + off, row["low_ns"])
                    self.assertLessEqual(true - off, row["high_ns"])
        stream = self.record("stream", "advice_workers.py", WORKERS="0", STREAM="1")
        if answers(runs[0]):
            self.assertNotIn("IterableDataset", advice(runs[0])["use_workers"])
        if answers(stream):
            text = "The dataset is an IterableDataset: see that it divides its samples"
            self.assertIn(text, advice(stream)["use_workers"])
        if answers(runs[1]):
            self.assertIn("add_workers", advice(runs[1]))
        # Done for real: the steps of the runs are in the order that was promised.
        steps = [what_if(run, "input_free")["now_ns"] for run in runs.values()]
        self.assertEqual(steps, sorted(steps, reverse=True))


class Samplers(Case):
    def test_a_sampler_is_on_a_core(self):
        """The training thread draws indices itself, which no count of cores refutes."""
        run = self.record("costly", os.path.join("programs", "costly_sampler.py"))
        mine = timers(run)
        wait_ns = mine["rows"]["loader_wait"][1] - sum(mine["firsts"])
        core_wait_ns = mine["core_waits"]["loader_wait"]
        drawn, off_core = mine["beside"]["sampler"][1] / wait_ns, core_wait_ns / wait_ns
        verdict = training.report("summary", run)["verdict"]
        told = f"the sampler {drawn:.1%} of the wait, {off_core:.1%} for a core: {verdict}"
        # Beside other programs the worker is late, too, or the thread itself has no core.
        if not answers(run) or off_core > OFF_MOST or drawn < 0.5 + OFF_MOST:
            print("not compared:", told[:400])
            return
        self.assertEqual(verdict["rule"], "sampler", told)
        self.assertEqual(verdict["second"]["id"], "waits", told)
        self.assertNotIn("second", verdict["doubt_ids"], told)
        print(told[:400])


class Epochs(Case):
    def test_workers_that_stay(self):
        runs = {
            on: self.record(on, "advice_epochs.py", PERSISTENT=on) for on in ("0", "1")
        }
        told = {on: advice(run) for on, run in runs.items()}
        # Receiving a batch takes longer beside other programs: no workers are advised, then, which
        # need no start.
        if answers(runs["0"]) and "no_workers" not in told["0"]:
            self.assertIn("each worker was started 4.0 times", told["0"]["persistent_workers"])
        for line in told["1"].values():
            self.assertNotIn("persistent_workers", line)
        # A start takes 0.6 s, on a busy machine longer: that of each epoch, or of the first alone.
        waits = {on: self.first_waits(run) for on, run in runs.items()}
        self.assertEqual((len(waits["0"]), len(waits["1"])), (4, 4))
        self.assertGreater(min(waits["0"]), 2 * min(waits["1"][1:]))

    def first_waits(self, run):
        """The wait for each epoch's first batch, in ns."""
        first = {}
        for row in training.report("steps", run)["steps"]:
            first.setdefault(row["epoch"], row["parts"]["loader_wait"])
        return [first[epoch] for epoch in sorted(first)]


if __name__ == "__main__":
    unittest.main()
