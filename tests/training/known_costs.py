# SPDX-License-Identifier: Apache-2.0
"""Programs whose one cost is known, against what the report says of it and advises.

Each test shows a defect of tests/training/ONCE_WRONG.md in a whole run. It reads only what reports
had before the defects were mended.
"""

import os
import tempfile
import unittest

import training

PYTHON = training.interpreter()
PROGRAM = os.path.join(training.HERE, "known_costs_program.py")
COMPILE_MS = 2000
FSYNC = "on the disk"  # what advice said of a program that waits for fsync


def told(*arguments):
    """The summary of a run of the program."""
    with tempfile.TemporaryDirectory() as folder:
        done = training.execute([PYTHON, PROGRAM, *map(str, arguments)], folder)
        if done.returncode:
            raise AssertionError(done.stderr.decode())
        return training.report("summary", os.path.join(folder, "run.zst"))


def workers_what_if(summary):
    return {row["what_if"]: row for row in summary["what_if"]}["workers"]


def advice(summary):
    return {line["id"]: line["text"] for line in summary["advice"]}


class KnownCosts(unittest.TestCase):
    def test_compiling_is_no_forward(self):
        summary = told("compile", COMPILE_MS)
        forward_ns = {row["part"]: row["ns"] for row in summary["account"]}["forward"]
        self.assertLess(forward_ns, COMPILE_MS * 10**6 / 2)
        for text in advice(summary).values():
            self.assertNotIn("torch.compile", text)

    def test_compiling_the_backward_graph_is_no_backward(self):
        """Inductor compiles it inside of the first backward, and takes nearly all of that."""
        with tempfile.TemporaryDirectory() as folder:
            cache = os.path.join(folder, "inductor")
            done = training.execute(
                [PYTHON, PROGRAM, "inductor"], folder, TORCHINDUCTOR_CACHE_DIR=cache
            )
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            with open(os.path.join(folder, "backwards.txt")) as file:
                first_ns, *later_ns = map(int, file)
            summary = training.report("summary", os.path.join(folder, "run.zst"))
        self.assertGreater(first_ns, 10 * max(later_ns))
        backward_ns = {row["part"]: row["ns"] for row in summary["account"]}["backward"]
        self.assertLess(backward_ns, sum(later_ns) + first_ns / 4)

    def test_a_log_without_fsync(self):
        for text in advice(told("log")).values():
            self.assertNotIn(FSYNC, text)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core")
    def test_a_batch_has_its_core_once(self):
        """Two workers have a core each, and the model hardly needs one: half of a step is saved."""
        row = workers_what_if(told("batches", 0, 40, 5))
        self.assertEqual(row["workers"], 2)
        self.assertGreater(row["gain_most_share"], 0.35)

    def test_no_worker_for_tiny_batches(self):
        self.assertNotIn("use_workers", advice(told("batches", 0, 0.4, 2)))

    def test_no_worker_without_a_core(self):
        self.assertNotIn("add_workers", advice(told("batches", 2, 20, 2)))


if __name__ == "__main__":
    unittest.main()
