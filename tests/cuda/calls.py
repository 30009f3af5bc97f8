# SPDX-License-Identifier: Apache-2.0
"""Own counts of CUDA calls against reported ones, by stage: calls and bytes, each counted once."""

import collections
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "exact"))

import harness
from harness import victim

STAGES = """
    cuda_launch cuda_graph_launch cuda_copy_h2d cuda_copy_d2h cuda_copy_d2d cuda_copy_other
    cuda_memset cuda_sync cuda_stream cuda_malloc cuda_free nccl
""".split()


# Columns of the view cuda, and the stages that each of them adds up.
COLUMNS = {
    "launches": "cuda_launch cuda_graph_launch",
    "copies": "cuda_copy_h2d cuda_copy_d2h cuda_copy_d2d cuda_copy_other",
    "syncs": "cuda_sync",
}


class Case(harness.Case):
    """Runs on the device of tests/fake_cuda."""

    def run_both(self, *argv, env=None, **options):
        fake = harness.environment("STAGEPROF_TEST_FAKE")
        return self.both(*argv, env={"LD_LIBRARY_PATH": fake, **(env or {})}, **options)

    def assert_cuda(self, outcome):
        self.assert_exact(outcome, strict=harness.STRICT + STAGES)
        stages, _ = outcome.trace.stages()
        counted = harness.bounds(outcome.rows(), lambda row: row.stage)
        for name in STAGES:
            if name in counted and name in stages and stages[name]["bytes"] is not None:
                self.assertEqual(counted[name].bytes, stages[name]["bytes"], f"{name}: bytes")

        self.assert_view(outcome.trace, stages)

    def assert_view(self, trace, stages):
        """The view cuda has each call once, of processes with steps and of those without."""
        rows = trace.report("cuda")["parts"]
        for column, names in COLUMNS.items():
            calls = sum(stages[name]["calls"] for name in names.split() if name in stages)
            self.assertEqual(sum(row[column] for row in rows), calls, column)
        self.assertTrue(rows or not any(name.startswith("cuda_") for name in stages))

    def exact(self, *argv, **options):
        outcome = self.run_both(*argv, **options)
        self.assert_cuda(outcome)
        return outcome

    def coverage(self, outcome):
        told = [c["text"].split("\t") for c in outcome.trace.report("summary")["coverage"]]
        return {
            line[0]: tuple(line[1:])
            for line in told
            if line[0] in ("cuda-runtime", "cuda-driver", "nccl", "hip")
        }

    def copies(self, library, *names):
        copies = [os.path.join(self.subfolder(name), os.path.basename(library)) for name in names]
        for copy in copies:
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copyfile(os.path.realpath(library), copy)
        return copies


class Runtime(Case):
    def test_every_form_cuda_13(self):
        self.exact(victim("cuda_calls13"), "1", "20")

    def test_every_form_cuda_12(self):
        self.exact(victim("cuda_calls12"), "1", "20")

    def test_every_form_cuda_11(self):
        """CUDA 11's runtime knows cuGetProcAddress of the first ABI only, and other prototypes."""
        self.exact(victim("cuda_calls11"), "1", "20")

    def test_eight_threads(self):
        self.exact(victim("cuda_calls13"), "8", "10")

    def test_no_device(self):
        outcome = self.run_both(
            victim("cuda_calls13"), env={"FAKE_CUDA_DEVICES": "0"}, may_fail=True
        )
        self.assertNotEqual(outcome.done.returncode, 0)

    def test_calls_that_are_left(self):
        outcome = self.run_both(victim("leaving"), "200")
        rows = outcome.rows()
        stages, _ = outcome.trace.stages()
        self.assert_stages(rows, stages, "run", strict=STAGES)
        # A launch left by longjmp leaves no event; that of a thread that ends in it is abandoned.
        self.assertEqual(
            stages["cuda_launch"]["calls"],
            sum(row.calls for row in rows if row.stage == "cuda_launch") + 4,
        )
        self.assertEqual(stages["cuda_launch"]["aborted"], 4)

    def test_runtimes_that_come_and_go(self):
        self.exact(victim("runtimes"), "20")

    def test_nccl(self):
        self.exact(victim("collectives"), "20")

    def test_two_communicators(self):
        """The calls of each communicator, also inside one group, and the calls of none."""
        outcome = self.exact(victim("collectives"), "20")
        found = collections.defaultdict(collections.Counter)
        for event in outcome.trace.report("dump", "--limit=all")["events"]:
            if event["stage"] == "nccl":
                found[event["communicator"]][event["event"], event["value"]] += 1
        of_none = found.pop(None)
        self.assertEqual(of_none, {("ncclGroupEnd", 0): 20, ("ncclSend", -4): 20})
        first, second = sorted(found.values(), key=len, reverse=True)
        self.assertEqual(
            first,
            {
                ("ncclAllReduce", 4000): 20,
                ("ncclBroadcast", 2000): 20,
                ("ncclAllGather", 4000): 20,
                ("ncclReduceScatter", 2000): 20,
                ("ncclSend", 4000): 20,
                ("ncclRecv", 4000): 20,
                ("ncclPutSignal", 4000): 20,
                ("ncclSignal", 0): 20,
                ("ncclWaitSignal", 0): 20,
                ("ncclBroadcast", 4000): 20,
            },
        )
        self.assertEqual(second, {("ncclSend", 4000): 20, ("ncclAllReduce", 1000): 40})

    def nccl_copies(self):
        library = os.path.join(harness.environment("STAGEPROF_TEST_FAKE"), "libnccl.so.2")
        return self.copies(library, "a", "b")

    def test_nccl_that_is_looked_up(self):
        """As Paddle does: calls, bytes and the communicator, in the copy that was asked."""
        outcome = self.exact(victim("collectives"), "20", *self.nccl_copies())
        found = collections.Counter()
        for event in outcome.trace.report("dump", "--limit=all")["events"]:
            if event["stage"] == "nccl":
                found[event["event"], event["value"], event["communicator"] is not None] += 1
        self.assertEqual(
            found,
            {
                ("ncclAllReduce", 4000, True): 60,
                ("ncclBroadcast", 2000, True): 60,
                ("ncclGroupEnd", 0, False): 60,
            },
        )
        self.assertEqual(self.coverage(outcome)["nccl"], ("bound", "libnccl.so.2"))

    def test_nccl_by_ctypes(self):
        program = (
            "import ctypes, sys\n"
            "nccl = ctypes.CDLL(sys.argv[1])\n"
            "buffer = ctypes.create_string_buffer(4000)\n"
            "ret = [nccl.ncclAllReduce(buffer, buffer, ctypes.c_size_t(1000), 7, 0, ctypes.c_void_p(4096), None)\n"
            "       for i in range(10)]\n"
            "print(ret)\n"
        )
        outcome = self.run_both(sys.executable, "-c", program, self.nccl_copies()[0])
        self.assertEqual(outcome.done.stdout, b"[0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n")
        stages, _ = outcome.trace.stages()
        self.assertEqual((stages["nccl"]["calls"], stages["nccl"]["bytes"]), (10, 40000))
        self.assertEqual(stages["cuda_launch"]["calls"], 10)


class Endings(Case):
    """Nothing is as programs expect it: the same results as without the tracer, and what coverage
    says."""

    def test_loaded_and_never_called(self):
        outcome = self.run_both(victim("endings"), "load")
        never = ("absent", "the library is loaded, and no call of it was seen")
        self.assertEqual(
            self.coverage(outcome), {"cuda-runtime": never, "cuda-driver": never, "nccl": never}
        )
        stages, _ = outcome.trace.stages()
        self.assertEqual([name for name in STAGES if stages.get(name, {}).get("calls")], [])

    def test_no_driver(self):
        outcome = self.both(victim("endings"), "begin")
        self.assertIn(b"cudaGetDeviceCount: 35", outcome.done.stdout)
        self.assert_cuda(outcome)
        self.assertEqual(self.coverage(outcome), {"cuda-runtime": ("bound", "libcudart.so.13")})
        stages, _ = outcome.trace.stages()
        for name in ("cuda_launch", "cuda_malloc", "cuda_sync", "cuda_copy_h2d"):
            self.assertEqual((stages[name]["calls"], stages[name]["errors"]), (1, 1), name)

    def test_no_device(self):
        outcome = self.run_both(victim("endings"), "begin", env={"FAKE_CUDA_DEVICES": "0"})
        self.assertIn(b"cudaGetDeviceCount: 100", outcome.done.stdout)
        self.assert_cuda(outcome)
        self.assertEqual(self.coverage(outcome)["cuda-runtime"], ("bound", "libcudart.so.13"))
        self.assertEqual(self.coverage(outcome)["cuda-driver"], ("bound", "libcuda.so.1"))

    def test_a_fork_after_the_device_was_used(self):
        outcome = self.exact(victim("endings"), "fork")
        stages, _ = outcome.trace.stages()
        self.assertEqual(
            (stages["cuda_launch"]["calls"], stages["cuda_launch"]["errors"]), (150, 50)
        )

    def test_entry_points_that_the_runtime_gives_away(self):
        self.exact(victim("endings"), "entry")

    def test_two_copies_of_a_runtime(self):
        """As PyTorch's own and the system's: both by path, and the program is linked to a third."""
        library = os.path.join(harness.environment("STAGEPROF_TEST_FAKE"), "13", "libcudart.so.13")
        self.exact(victim("endings"), "copies", *self.copies(library, "a", "b"))

    def test_launches_that_fail(self):
        outcome = self.exact(victim("endings"), "fail")
        stages, _ = outcome.trace.stages()
        self.assertEqual(
            (stages["cuda_launch"]["calls"], stages["cuda_launch"]["errors"]), (200, 100)
        )


class Driver(Case):
    def test_dlsym_and_get_proc_address(self):
        outcome = self.exact(victim("driver_calls"), "10")
        told = [c["text"].split("\t") for c in outcome.trace.report("summary")["coverage"]]
        unknown = [
            line[0] for line in told if line[1] == "unobservable" and re.match("cu[A-Z]", line[0])
        ]
        self.assertEqual(
            unknown, ["cuStreamQuery"], "the one function whose parameters a later CUDA has changed"
        )

    def test_lookups_mean_what_they_meant(self):
        self.assertEqual(self.run_both(victim("lookups")).done.returncode, 0)

    def test_lookups_under_a_sanitizer(self):
        program = victim("lookups_sanitized")
        name = [os.environ["CC"], "-print-file-name=libasan.so"]
        sanitizer = subprocess.run(name, stdout=subprocess.PIPE).stdout.decode().strip()
        if not os.path.isabs(sanitizer):
            self.skipTest("the compiler has no shared libasan")
        both = sanitizer + " " + harness.environment("STAGEPROF_TEST_LIB")
        self.run_both(program, env={"LD_PRELOAD": both})


class Hip(Case):
    """AMD's interface, on libamdhip64 of tests/cuda/fake."""

    def calls_are_exact(self, program):
        outcome = self.exact(program, "20")
        self.assertEqual(self.coverage(outcome), {"hip": ("bound", "libamdhip64.so.6")})
        return outcome

    def test_linked_calls(self):
        self.calls_are_exact(victim("hip_calls"))

    def test_calls_by_the_headers_of_rocm(self):
        program = victim("hip_calls_by_headers")
        if not os.path.exists(program):
            self.skipTest("no hip/hip_runtime_api.h when the tests were built")
        self.calls_are_exact(program)

    def test_names_and_pinned_memory(self):
        """Each event has HIP's name. Copies to registered memory do not block, except the eight
        that are synchronous (one of them fails)."""
        outcome = self.run_both(victim("hip_calls"), "1")
        events = outcome.trace.report("dump", "--limit=all")["events"]
        names = {event["event"] for event in events if event["stage"].startswith("cuda_")}
        self.assertTrue(names and all(name.startswith("hip") for name in names), names)
        (part,) = outcome.trace.report("cuda")["parts"]
        self.assertEqual((part["copies"], part["blocking_copies"]), (34, 8))

    def test_functions_that_are_looked_up(self):
        """By dlsym and by hipGetProcAddress, as Triton does."""
        library = os.path.join(harness.environment("STAGEPROF_TEST_FAKE"), "libamdhip64.so.6")
        outcome = self.exact(victim("hip_calls"), "20", *self.copies(library, "a"))
        stages, _ = outcome.trace.stages()
        self.assertEqual(stages["cuda_launch"]["calls"], 40)


if __name__ == "__main__":
    harness.main()
