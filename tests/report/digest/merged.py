# SPDX-License-Identifier: Apache-2.0
"""Digests answer as the runs do, merge in any order and grouping to the same bytes, and name what
is wrong with one of them."""

import glob
import json
import os
import random
import subprocess
import unittest

import jobs
from jobs import bytes_of, digest, made, ranks_of, report, stragglers

RANKS, STEPS, NODES = jobs.Job.RANKS, jobs.Job.STEPS, 8
PHASES = len(jobs.table("analyzer/steps/account.def", "SP_ACCOUNT"))
DAY_STEPS = 86_400 * 2  # of 0.5 s
DAY_NS = 86_400 * 10**9
HEAD_BYTES, RECORD_BYTES = 24, 104


class Merged(jobs.Job):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.digests = []
        for run in cls.runs:
            cls.digests.append(run + ".spd")
            digest(cls.digests[-1], run)

    def tree(self, inputs, chance, depth=0):
        """A digest of the inputs, merged in groups as they fall."""
        path = self.path(f"tree-{chance.random()}.spd")
        groups = list(inputs)
        chance.shuffle(groups)
        while len(groups) > 3:
            size = chance.randrange(2, len(groups))
            groups = [self.tree(groups[:size], chance, depth + 1)] + groups[size:]
        digest(path, *groups)
        return path

    def test_any_grouping_and_order(self):
        for seed in range(6):
            chance = random.Random(seed)
            inputs = [chance.choice(pair) for pair in zip(self.runs, self.digests)]
            self.assertEqual(bytes_of(self.tree(inputs, chance)), bytes_of(self.whole), seed)

    def test_answers_of_the_runs(self):
        mixed = self.digests[:3] + self.runs[3:]
        for view in jobs.VIEWS:
            for form in ("json", "table", "csv"):
                told = report(view, "--format=" + form, *self.runs)[0]
                self.assertEqual(report(view, "--format=" + form, self.whole)[0], told)
                self.assertEqual(report(view, "--format=" + form, *self.digests)[0], told)
                self.assertEqual(report(view, "--format=" + form, *mixed)[0], told)

    def test_answers_of_golden_runs(self):
        for run in glob.glob(os.path.join(jobs.ROOT, "tests/report/golden/v*/*.zst")):
            path = self.path("golden.spd")
            digest(path, run)
            for view in jobs.VIEWS:
                told = report(view, "--format=json", run)[0]
                self.assertEqual(report(view, "--format=json", path)[0], told, (run, view))
            os.unlink(path)

    def test_size(self):
        cells = RANKS * STEPS * PHASES
        self.assertLess(os.path.getsize(self.whole), cells)

    def test_size_of_a_day(self):
        """The table of docs/DIGEST.md: a node of eight ranks, by a tenth of a day."""
        for noise, most_bytes in ((20, 9e6), (300, 14e6)):
            node = made(self.path(f"day-{noise}"), 8, DAY_STEPS // 10, f"noise={noise}")
            path = self.path(f"day-{noise}.spd")
            digest(path, *node)
            self.assertLess(10 * os.path.getsize(path), most_bytes)
            self.assertGreater(10 * os.path.getsize(path), most_bytes / 2)

    def test_node_missing(self):
        out, _ = report("ranks", *self.digests[:2], *self.digests[3:])
        self.assertIn("ranks 16 to 23 of 64 are in no input", out)
        self.assertIn("rank 5 (node-0000)", out)
        found = ranks_of(*self.digests[:2], *self.digests[3:])
        self.assertEqual(found["comparison"]["ranks_missing"], 8)
        self.assertEqual(ranks_of(*self.digests)["comparison"]["ranks_missing"], 0)

    def test_twice_the_same(self):
        told, _ = report("ranks", self.whole)
        out, said = report("ranks", self.whole, self.digests[2])
        self.assertEqual(out, told)
        self.assertRegex(said, r"node-2\.spd: 16 threads of it are in another input")
        out, said = report("ranks", self.whole, self.runs[2])  # events before sums
        self.assertEqual(out, told)
        self.assertRegex(said, r"whole\.spd: 16 threads of it")
        path = self.path("twice.spd")
        said = digest(path, self.whole, self.runs[0], self.digests[0])
        self.assertEqual(bytes_of(path), bytes_of(self.whole))
        self.assertIn("16 processes are in several inputs", said)

    def test_older_digest_of_a_live_run(self):
        """A thread counts as far as the later digest goes, in any order."""
        both = self.path("later")
        early = made(self.path("early"), 8, 40, jobs.STRAGGLER)
        late = made(both, 8, 80, jobs.STRAGGLER)
        old, new = self.path("old.spd"), self.path("new.spd")
        digest(old, *early)
        digest(new, *late)
        for order in ((old, new), (new, old)):
            path = self.path("old-new-%d.spd" % (order[0] == old))
            digest(path, *order)
            self.assertEqual(bytes_of(path), bytes_of(new))
            rows = ranks_of(*order)["ranks"]
            self.assertEqual({row["steps"] for row in rows}, {80})

    def test_cut(self):
        """Whole records before the cut are answered, and the place is named."""
        data = bytes_of(self.digests[0])
        path = self.path("cut.spd")
        for size in (3, HEAD_BYTES, HEAD_BYTES + 40, len(data) // 2, len(data) - RECORD_BYTES):
            with open(path, "wb") as file:
                file.write(data[:size])
            out, said = report("ranks", "--format=json", path, *self.digests[1:])
            self.assertIn("cut.spd", said)
            self.assertIn("SP230", said)
            self.assertEqual(stragglers(json.loads(out)), [5] if size > len(data) // 2 else [])
        found = ranks_of(path, *self.digests[1:])  # only the end is missing
        self.assertEqual(len(found["ranks"]), RANKS)
        self.assertEqual(stragglers(found), [5])

    def test_damaged_record(self):
        data = bytearray(bytes_of(self.digests[1]))
        data[HEAD_BYTES + RECORD_BYTES + 200] ^= 1
        path = self.path("damaged.spd")
        with open(path, "wb") as file:
            file.write(data)
        found = ranks_of(self.digests[0], path)
        self.assertEqual(len(found["ranks"]), 15)
        self.assertIn("damaged block", report("ranks", self.digests[0], path)[1])
        self.assertIn("damaged block", digest(self.path("of-damaged.spd"), path))

    def test_other_version(self):
        for at in (8, 16):  # the version; the names of phases
            data = bytearray(bytes_of(self.digests[1]))
            data[at] ^= 1
            path = self.path("version.spd")
            with open(path, "wb") as file:
                file.write(data)
            out, said = report("ranks", self.digests[0], path)
            self.assertIn("version.spd: written in another version", said)
            self.assertNotIn("SP231", said)  # a digest's versions are not those of traces
            self.assertIn("rank 5 (node-0000)", out)

    def test_longer_rank_has_a_row(self):
        run = self.path("longer")
        os.mkdir(run)
        for steps, ranks in ((100, "ranks=0:63"), (1000, "ranks=63:64")):
            subprocess.run([jobs.MAKE_JOB, run, "64", str(steps), ranks], check=True)
        out, _ = report("ranks", run)
        self.assertIn("63 ranks like the median", out)
        self.assertRegex(out, r"(?m)^ +63 .* 1,000 ")
        out, _ = report("ranks", "--steps=0:20", run)  # of these all have as many
        self.assertIn("64 ranks like the median", out)

    def test_other_job(self):
        other = made(self.path("other"), 16, STEPS, "seed=3", "later=%d" % DAY_NS)
        path = self.path("other.spd")
        digest(path, *other)
        out, _ = report("ranks", *self.digests, path)
        self.assertIn("16 ranks are not compared: they are of a job of another size", out)
        self.assertEqual(stragglers(ranks_of(*self.digests, path)), [5])

    def test_restarted_with_other_ranks(self):
        again = made(self.path("again"), 16, STEPS, "seed=4", f"world={RANKS}", f"later={DAY_NS}")
        path = self.path("again.spd")
        digest(path, *again)
        out, _ = report("ranks", *self.digests, path)
        self.assertIn("16 ranks are not compared: they trained at another time", out)
        self.assertEqual(stragglers(ranks_of(*self.digests, path)), [5])

    def test_clocks_apart(self):
        apart = made(self.path("apart"), 32, STEPS, jobs.STRAGGLER, f"skew={3 * DAY_NS}")
        path = self.path("apart.spd")
        digest(path, *apart)
        out, _ = report("ranks", path)
        self.assertIn("node-0003 is 216:00:00 ahead of node-0000", out)
        self.assertEqual(stragglers(ranks_of(path)), [5])

    def test_ten_times_the_steps(self):
        long = self.path("long")
        os.makedirs(long)
        jobs.subprocess.run(
            [jobs.MAKE_JOB, long, str(RANKS), str(10 * STEPS), "ranks=9:10", jobs.STRAGGLER],
            check=True,
        )
        path = self.path("long.spd")
        digest(path, long)
        found = ranks_of(self.whole, path)
        rows = {row["rank"]: row for row in found["ranks"]}
        self.assertEqual(rows[9]["steps"], 10 * STEPS)
        self.assertEqual(found["comparison"]["steps"], STEPS)
        self.assertIn(5, stragglers(found))

    def test_epilogue(self):
        """The recipe of docs/DIGEST.md, as a shell runs it."""
        shared = self.path("shared")
        os.makedirs(os.path.join(shared, "7"))
        with open(os.path.join(jobs.ROOT, "docs/DIGEST.md")) as file:
            text = file.read()
        recipe = text[text.index("    # in the epilogue") : text.index("Single calls, ranges")]
        for host in (0, 1):
            scratch = self.path(f"scratch/host-{host}")
            os.makedirs(scratch)
            for rank in range(8 * host, 8 * host + 8):
                run = os.path.join(scratch, f"{rank}.zst")
                os.makedirs(run)
                words = [jobs.MAKE_JOB, run, "16", str(STEPS), f"ranks={rank}:{rank + 1}"]
                jobs.subprocess.run([*words, jobs.STRAGGLER], check=True)
        for part, hosts in zip(recipe.split("    # once"), ((0, 1), (0,))):
            for host in hosts:
                lines = [line for line in part.splitlines() if not line.lstrip().startswith("#")]
                script = "\n".join(line for line in lines if line.startswith("    "))
                for old, new in (
                    ("/shared", shared),
                    ("/scratch", self.path("scratch")),
                    ("$(hostname)", f"host-{host}"),
                    ("stageprof-report", jobs.REPORT),
                ):
                    script = script.replace(old, new)
                env = {**os.environ, "SLURM_JOB_ID": "7"}
                jobs.subprocess.run(["bash", "-euc", script], env=env, check=True)
        self.assertEqual(os.listdir(self.path("scratch")), [])
        found = ranks_of(shared + "/7.spd")
        self.assertEqual([row["rank"] for row in found["ranks"]], list(range(16)))
        self.assertEqual(stragglers(found), [5])

    def test_inputs_that_are_none(self):
        path = self.path("none.spd")
        said = digest(path, self.path("missing"), status=1)
        self.assertIn("No such file", said)
        self.assertFalse(os.path.exists(path))
        said = jobs.report("digest", self.whole, "--steps=1:2", "-o", path, status=2)[1]
        self.assertIn("SP221", said)


if __name__ == "__main__":
    unittest.main()
