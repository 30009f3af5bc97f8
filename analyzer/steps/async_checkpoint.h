/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints that other threads of a process, or processes that it starts for that, save while
 * its trainer goes on. A wait of the trainer belongs to the checkpoint if the checkpoint ends in
 * that wait and was under way for most of it. Such a wait is a join, the result of a future, or a
 * lock, and not the wait for the interpreter's own.
 */
#ifndef STAGEPROF_ANALYZER_ASYNC_CHECKPOINT_H
#define STAGEPROF_ANALYZER_ASYNC_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/steps/process_calls.h"

/* From all threads of the process of this stream but its own, and from the processes that it
 * started and that neither train nor make batches. `checkpoints` begin as zeros. Returns 0 or
 * -ENOMEM; sp_process_calls_finish() it in either case. */
int sp_async_checkpoints_read(struct sp_process_calls *checkpoints, struct sp_reader *reader,
			      const struct sp_run *run, uint32_t stream);

/* True where one ends in (from_ns, to_ns] that was under way for half of that time or more. */
bool sp_async_checkpoints_held(const struct sp_process_calls *checkpoints, int64_t from_ns,
			       int64_t to_ns);

/* The time of all of them. */
uint64_t sp_async_checkpoints_total(const struct sp_process_calls *checkpoints);

#endif
