# SPDX-License-Identifier: Apache-2.0
"""STAGEPROF_CALLS: calls counted in some fetches, against cProfile and the program's own timers.

--nightly: for all interpreters of STAGEPROF_TEST_PYTHONS.
"""

import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import training  # noqa: E402

PROGRAM = os.path.join(HERE, "counted_program.py")
LOADER = os.path.join(HERE, "fake_loader")
FETCHES = 400
COST = 0.003
NAMES = "fetch __getitem__ work spin chatter tiny recurse generate fail".split()
NIGHTLY = "--nightly" in sys.argv


def pythons():
    listed = os.environ.get("STAGEPROF_TEST_PYTHONS", "") if NIGHTLY else ""
    return sorted({sys.executable, *filter(None, listed.split(":"))})


class Counted(unittest.TestCase):
    def run_program(self, python, mode, fetches=FETCHES, calls="4/50"):
        with training.tempfile.TemporaryDirectory() as folder:
            done = training.execute(
                [python, PROGRAM, str(fetches), mode],
                folder,
                STAGEPROF_CALLS=calls,
                COUNTED_LOADER=LOADER,
            )
            self.assertEqual((done.returncode, done.stderr), (0, b""), python)
            report = training.report(
                "functions", os.path.join(folder, "run.zst"), "--by=calls", "--limit=all"
            )
        return json.loads(done.stdout.decode().splitlines()[-1]), report

    def profiled(self, python, mode="cprofile"):
        environment = training.environment(False, None, {})
        done = subprocess.run(
            [python, PROGRAM, str(FETCHES), mode],
            env=dict(environment, COUNTED_LOADER=LOADER),
            stdout=subprocess.PIPE,
            check=True,
        )
        return json.loads(done.stdout.decode().splitlines()[-1])["calls"]

    def rows(self, report):
        return {row["function"].rpartition(".")[2]: row for row in report["functions"]}

    def test_counts_are_those_of_cprofile(self):
        for python in pythons():
            with self.subTest(python):
                said, report = self.run_program(python, "alone")
                fetches = report["counted"]["fetches"]
                self.assertGreater(report["counted"]["fetches_counted"], 3, report["counted"])
                self.assertLess(report["counted"]["fetches_counted"], FETCHES / 5)
                rows, true = self.rows(report), self.profiled(python)
                for name in NAMES:
                    expected = true[name] * fetches / FETCHES
                    self.assertLess(
                        abs(rows[name]["calls"] - expected), 0.02 * expected, (name, python)
                    )
                    self.assertLessEqual(rows[name]["calls_low"], rows[name]["calls"])
                    self.assertGreaterEqual(rows[name]["calls_high"], rows[name]["calls"])
                expected = true["<built-in method builtins.sum>"] * fetches / FETCHES
                self.assertLess(abs(rows["{sum}"]["calls"] - expected), 0.02 * expected)
                # after the run the program finds no profiler, debugger or tool
                self.assertNotIn(False, said["seen"])

    def test_functions_lie_in_each_other(self):
        _, report = self.run_program(sys.executable, "alone")
        rows = self.rows(report)
        self.assertLessEqual(rows["chatter"]["own_ns"], rows["chatter"]["total_ns"])
        self.assertLess(rows["spin"]["own_ns"], rows["{sum}"]["own_ns"] / 10)
        self.assertGreater(rows["fetch"]["total_ns"], rows["work"]["total_ns"])
        self.assertEqual(rows["fetch"]["phase"], "worker_fetch")
        # where nothing was sampled, they are what the view shows
        self.assertAlmostEqual(sum(row["share"] for row in report["functions"]), 1, places=3)

    def test_the_price_has_a_limit(self):
        said, report = self.run_program(sys.executable, "heavy", fetches=3000, calls="40/50")
        counted = report["counted"]
        took = counted["callback_ns"] + counted["events"] * counted["event_ns"]
        self.assertLess(took, COST * sum(said["parts"].values()), counted)

    def test_gives_way(self):
        for mode in ("debugged", "profiled_inside"):
            with self.subTest(mode):
                said, report = self.run_program(sys.executable, mode)
                self.assertEqual(report["counted"]["windows"], 0)
                self.assertEqual(report["functions"], [])
                self.assertEqual(said["kept"], FETCHES)

    def test_fetches_that_raise(self):
        _, report = self.run_program(sys.executable, "raises", calls="1/10")
        rows = self.rows(report)
        self.assertEqual(rows["fetch"]["calls"], report["counted"]["fetches"])

    def test_nothing_unasked(self):
        _, report = self.run_program(sys.executable, "alone", fetches=100, calls="")
        self.assertEqual(report["counted"]["windows"], 0)

    def test_times(self):
        """Against the program's own timer in the same fetches: other programs are in both."""
        found = [python for python in pythons() if self.has_monitoring(python)]
        if not found:
            self.skipTest("nightly: this Python does not show which fetches are counted")
        for python in found:
            with self.subTest(python):
                said, report = self.run_program(python, "alone", fetches=1000)
                self.assertEqual(len(said["work"]), 2 * report["counted"]["fetches_counted"])
                true = sum(said["work"]) / len(said["work"])
                self.assertLess(abs(self.rows(report)["work"]["per_call_ns"] / true - 1), 0.05)

    def test_steps_are_those_of_cprofile(self):
        """A training loop: each function in its phase of the step."""
        for python in pythons():
            with self.subTest(python):
                said, report = self.run_program(python, "steps")
                self.assertGreater(report["counted_steps"]["steps_counted"], 3, report)
                self.assertLess(report["counted_steps"]["steps_counted"], FETCHES / 5)
                self.assertEqual(report["counted"]["windows"], 0)
                steps, true = report["counted_steps"]["steps"], self.profiled(python, "steps_cprofile")
                rows = {}
                for row in report["functions"]:
                    name = row["function"].rpartition(".")[2]
                    rows[name, row["phase"]] = row
                for name in ("work", "spin", "chatter", "tiny", "recurse", "differentiate"):
                    of_name = [row for key, row in rows.items() if key[0] == name]
                    expected = true[name] * steps / FETCHES
                    found = sum(row["calls"] for row in of_name)
                    self.assertLess(abs(found - expected), 0.02 * expected, (name, python))
                self.assertEqual(rows["tiny", "other"]["calls"], 100 * steps)
                self.assertEqual(rows["tiny", "backward"]["calls"], 20 * steps)
                self.assertEqual(rows["recurse", "optimizer"]["calls"], 11 * steps)
                # the loop is open all the time, and is not called
                self.assertEqual(rows["train", "other"]["calls"], 0)
                self.assertGreater(
                    rows["train", "other"]["total_ns"], rows["work", "other"]["total_ns"]
                )
                self.assertNotIn(False, said["seen"])

    def test_children_of_a_step_are_left_alone(self):
        for python in pythons():
            with self.subTest(python):
                said, report = self.run_program(python, "steps_forks", fetches=150)
                self.assertEqual((said["failed"], False in said["seen"]), (0, False))

    def test_gives_way_to_a_tool(self):
        """As coverage.py with sysmon: no fetch and no step is counted beside it."""
        found = [python for python in pythons() if self.has_monitoring(python)]
        if not found:
            self.skipTest("nightly: this Python has no sys.monitoring")
        for python in found:
            with self.subTest(python):
                said, report = self.run_program(python, "steps_tool")
                self.assertEqual(report["counted_steps"]["windows"], 0)
                self.assertEqual(report["functions"], [])
                self.assertGreater(said["events"], 100 * FETCHES)
                self.assertNotIn(False, said["seen"])

    def trained(self, *arguments, calls="4/50"):
        python = training.interpreter()
        with training.tempfile.TemporaryDirectory() as folder:
            command = [python, os.path.join(HERE, "counted_torch_program.py"), *arguments]
            done = training.execute(command, folder, STAGEPROF_CALLS=calls)
            self.assertEqual(done.returncode, 0, done.stderr)
            run = os.path.join(folder, "run.zst")
            report = training.report("functions", run, "--by=calls", "--limit=all")
            return done.stdout, report

    def test_steps_of_pytorch(self):
        if not NIGHTLY:
            self.skipTest("nightly: trains by PyTorch")
        plain, _ = self.trained("300", "2", calls="")
        for workers in ("2", "0"):
            said, report = self.trained("300", workers)
            self.assertEqual(said, plain)
            steps = report["counted_steps"]
            self.assertGreater(steps["steps_counted"], 3, report["counted_steps"])
            rows = {}
            for row in report["functions"]:
                rows[row["function"].rpartition(".")[2], row["phase"]] = row["calls"]
            self.assertEqual(rows["helper", "forward"], 3 * steps["steps"])
            self.assertEqual(rows["tiny", "other"], 50 * steps["steps"])
            self.assertEqual(rows["{run_backward}", "backward"], steps["steps"])
            self.assertEqual(rows["__getitem__", "worker_fetch"], 4 * report["counted"]["fetches"])
            self.assertNotIn(("__getitem__", "loader_wait"), rows)

    def test_compiled_steps_are_left_alone(self):
        if not NIGHTLY:
            self.skipTest("nightly: trains by PyTorch")
        plain, _ = self.trained("300", "2", "compile", calls="")
        said, report = self.trained("300", "2", "compile")
        self.assertEqual(said, plain)
        self.assertEqual(report["counted_steps"]["windows"], 0)
        self.assertGreater(report["counted"]["windows"], 0)

    def has_monitoring(self, python):
        test = [python, "-c", "import sys; sys.monitoring"]
        return subprocess.run(test, stderr=subprocess.DEVNULL).returncode == 0


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
