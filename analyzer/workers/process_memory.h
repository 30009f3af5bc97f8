/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that processes held, from the samples of their threads.
 */
#ifndef STAGEPROF_ANALYZER_PROCESS_MEMORY_H
#define STAGEPROF_ANALYZER_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/totals/memory_samples.h"

struct sp_run;
struct sp_totals;
struct sp_training;

/* Threads with samples: of a trainer's process (first), and of the processes that it started. */
struct sp_memory_streams {
	uint32_t *list;
	uint32_t count, own; /* own: the number of threads of the trainer's process */
};

/* Returns 0 or -ENOMEM. */
int sp_memory_find(struct sp_memory_streams *streams, const struct sp_totals *totals,
		   const struct sp_training *training, uint32_t trainer_image);
void sp_memory_streams_finish(struct sp_memory_streams *streams);

/* The memory of a thread's process at the end of [start_ns, end_ns]. False: not known, or the
 * process had ended. */
bool sp_memory_in(const struct sp_run *run, const struct sp_totals *totals, uint32_t stream,
		  int64_t start_ns, int64_t end_ns, uint64_t *ret_bytes);

#endif
