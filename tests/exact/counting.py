# SPDX-License-Identifier: Apache-2.0
"""Own counts against reported ones: threads, names of the same call, descriptors, kinds, waits."""

import json

import harness
from harness import victim

WAITS = """
    poll ppoll select pselect epoll_wait epoll_pwait sem_wait sem_timedwait sem_clockwait
    cond_wait cond_timedwait cond_clockwait waitpid wait4 waitid nanosleep clock_nanosleep usleep sleep
""".split()


class Counting(harness.Case):
    def exact(self, *argv, **options):
        outcome = self.both(*argv, **options)
        self.assert_exact(outcome)
        return outcome

    def test_one_thread(self):
        self.exact(victim("read_loop"), "1", "400000")

    def test_few_calls(self):
        for calls in (1, 2, 255, 256, 257, 258, 511, 513, 1023, 1025):
            with self.subTest(calls=calls):
                self.exact(victim("read_loop"), "1", str(calls), name=f"{calls}-")

    def test_eight_threads(self):
        self.exact(victim("read_loop"), "8", "100000")

    def test_aliases(self):
        self.exact(victim("aliases"))

    def test_fortified(self):
        self.exact(victim("fortified"))

    def test_descriptors(self):
        self.exact(victim("fd_family"))

    def test_kinds(self):
        self.exact(victim("kinds"))

    def test_sockets(self):
        outcome = self.exact(victim("sockets"))
        files = {
            file["name"]: file
            for file in outcome.trace.report("files", "--limit=all")["files"]
        }
        _, run = outcome.trace.stages()
        sent, received = outcome.done.stdout.split()
        peers = [file for name, file in files.items() if name.startswith("net:127.0.0.1:")]
        self.assertEqual([peer["written_bytes"] for peer in peers], [int(sent)])
        # The server's end was accepted, and a socket without an end has its own row.
        self.assertEqual(files["net:127.0.0.1"]["read_bytes"], int(received))
        self.assertIn("net:(not connected)", files)
        self.assertIn("net:[::1]:9", files)
        self.assertTrue(any(name.startswith("unix:/") for name in files))
        # Files, pipes and the network are three things.
        self.assertEqual(run["written_bytes"], 64)
        stages, _ = outcome.trace.stages()
        self.assertEqual(run["sent_bytes"], stages["net_write"]["bytes"])
        self.assertEqual(run["received_bytes"], stages["net_read"]["bytes"])
        summary = outcome.trace.report("summary")
        self.assertIn("sockets\tbound\tlibc", [line["text"] for line in summary["coverage"]])

    def test_peers_are_kept_back(self):
        """STAGEPROF_PATHS holds for addresses as for paths."""
        for paths in ("hash", "none"):
            with self.subTest(paths):
                outcome = self.both(
                    victim("sockets"), name=paths, env={"STAGEPROF_PATHS": paths}
                )
                for secret in (b"127.0.0.1", b"[::1]", b"server.sock"):
                    self.assertNotIn(secret, outcome.trace.everything())

    def test_transfers(self):
        self.exact(victim("transfers"))

    def test_odd_files(self):
        outcome = self.exact(victim("odd_files"))
        files = outcome.trace.report("files", "--limit=all")["files"]
        # Beyond 4,096 bytes there is no path: the inodes distinguish the files.
        deep = [
            file["read_bytes"]
            for file in files
            if file["name"].startswith("file:[") and file["reads"]
        ]
        self.assertEqual(sorted(deep), [100, 200])
        odd = [
            (file["reads"], file["read_bytes"])
            for file in files
            if file["name"].endswith("/\ufffd\ufffd\n.dat")
        ]
        self.assertEqual(odd, [(1, 32)])
        # By lines and characters: not seen, which is not 0.
        unseen = {
            name: file
            for file in files
            for name in ("lines.dat", "letters.dat")
            if file["name"].endswith(name)
        }
        self.assertEqual(
            [(f["opens"], f["read_bytes"], f["written_bytes"]) for f in unseen.values()],
            [(1, None, None)] * 2,
        )

    def test_reading_unseen(self):
        """The report names libraries that no hook sees."""
        libraries = [(victim(f"{name}.so"), name) for name in ("libaio", "liburing")]
        for way, name in [("ring", "io_uring"), ("queue", "io_submit")] + libraries:
            with self.subTest(way=way):
                outcome = self.both(victim("unseen_io"), way, name=name)
                self.assertIn(name, json.dumps(outcome.trace.report("summary")))

    def test_monotonic_clock(self):
        self.exact(victim("read_loop"), "2", "50000", env={"STAGEPROF_TEST_CLOCK": "monotonic"})

    def test_write_mode(self):
        self.exact(victim("read_loop"), "2", "50000", env={"STAGEPROF_MODE": "write"}, notes=1)


class Waits(harness.Case):
    def test_waits(self):
        for name in WAITS:
            with self.subTest(function=name):
                outcome = self.both(victim("waits"), name, name=name)
                stages, _ = outcome.trace.stages()
                stage = "sleep" if "sleep" in name else "wait"
                rows = [row for row in outcome.rows() if row.stage == stage]
                self.assert_stages(rows, stages, name, strict=())
                # a busy machine eats from the waits whose end is a point in time
                sure = sum(row.calls for row in rows)
                self.assertGreaterEqual(sure, 5, f"{name}: too busy a machine")
                self.assertGreaterEqual(stages[stage]["total_ns"], sure * 10_000_000, name)


if __name__ == "__main__":
    harness.main()
