# SPDX-License-Identifier: Apache-2.0
"""Many threads, small stacks, and every way a thread can end."""

import harness
from harness import victim


class Threads(harness.Case):
    def exact(self, *argv, **options):
        outcome = self.both(*argv, **options)
        self.assert_exact(outcome)
        return outcome

    def test_ten_thousand(self):
        outcome = self.exact(victim("many_threads"), "10000", "200")
        self.assertEqual(outcome.trace.stages()[0]["file_read"]["calls"], 200000)

    def test_ten_thousand_alive(self):
        self.exact(victim("many_threads"), "10000", "10000")

    def test_smallest_stack(self):
        self.exact(victim("tiny_stack"))

    def test_ways_to_end(self):
        self.exact(victim("thread_ends"))


class Interruptions(harness.Case):
    def test_reads_in_a_handler(self):
        self.assert_exact(self.both(victim("signal_reader"), "2000000"))

    def test_reads_on_a_small_alternate_stack(self):
        self.assert_exact(self.both(victim("signal_reader"), "1000000", "4096"))

    def test_reads_on_the_smallest_alternate_stack(self):
        """The stack that the handler alone needs, and 1 KiB for the recorder."""
        least = next(
            more
            for more in range(0, 8192, 64)
            if self.execute(
                [victim("signal_reader"), "1000", str(more)],
                self.subfolder(f"least-{more}"),
                traced=False,
                may_fail=True,
            ).done.returncode
            == 0
        )
        for reads in ("0", "1000000"):
            with self.subTest(reads=reads):
                argv = [victim("signal_reader"), reads, str(least + 1024)]
                self.assert_exact(self.both(*argv, name=reads))

    def test_longjmp_out_of_a_handler(self):
        self.assert_exact(self.both(victim("longjmp_read")))


if __name__ == "__main__":
    harness.main()
