# SPDX-License-Identifier: Apache-2.0
"""THE table of planted faults: trainer, how it is run, the verdicts that are right, the advice that
has to be given.

Where two verdicts are right, one names the planted cause and the other its symptom: a
library's time goes to both.
"""

import collections

Fault = collections.namedtuple("Fault", "trainer verdicts advice settings", defaults=({},))

TABLE = [
    Fault("slow_storage", ["storage-bound"], ["page_cache"], {"latency_us": 4000, "mb_per_s": 100}),
    Fault(
        "random_mapping",
        ["storage-bound"],
        ["mapped_reads"],
        {"latency_us": 10000, "mb_per_s": 200},
    ),
    Fault("hdf5_reopened", ["storage-bound", "input-bound"], ["hdf5_handle"]),
    Fault("huge_jpegs", ["decode-bound"], ["decode_smaller"]),
    Fault("png", ["decode-bound"], ["decode_once", "not_png"]),
    Fault("png_opencv", ["decode-bound"], ["decode_once", "not_png"]),
    Fault("one_worker", ["input-bound"], ["add_workers"]),
    Fault("no_worker", ["decode-bound", "input-bound"], ["use_workers"]),
    Fault("many_workers", ["cpu-oversubscribed"], ["fewer_workers"]),
    Fault("many_threads", ["cpu-oversubscribed"], ["fewer_threads"]),
    Fault("collate_many", ["input-bound"], ["receive"]),
    Fault("compressed", ["input-bound"], ["decompress"]),
    Fault("slow_collate", ["input-bound"], ["collate"]),
    Fault("pickled_arrays", ["input-bound"], ["unshared"]),
    Fault("shared_lock", ["input-bound"], ["locked"]),
    Fault("slow_transform", ["input-bound"], ["transform"]),
    Fault("cold_first_batch", ["first-batch-bound"], ["persistent_workers"]),
    Fault("pageable_copies", ["copy-bound"], ["pin_memory"]),
    Fault("item_in_the_loop", ["sync-bound"], ["sync_line"]),
    Fault("allocations_in_the_loop", ["allocation-bound"], ["keep_memory"]),
    Fault("tiny_kernels", ["launch-bound"], ["cuda_graphs"]),
    Fault("checkpoint_each_step", ["checkpoint-bound"], ["async_checkpoint"]),
    Fault("log_each_step", ["loop-bound"], ["loop_writes"]),
    Fault("long_validation", ["validation-bound"], ["less_validation"]),
    Fault("straggler", ["communication-bound", "input-bound"], [], {"ranks": 2}),
    Fault("healthy", ["compute-bound"], []),
    Fault("healthy_accumulation", ["compute-bound"], []),
    Fault("healthy_device", ["compute-bound"], []),
    Fault("healthy_hidden_wait", ["compute-bound"], []),
]

# The default: one of each kind of evidence, and one that is healthy.
FEW = ["slow_storage", "item_in_the_loop", "healthy_device"]
