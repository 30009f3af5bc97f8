/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of the memory that a process holds (RSS), in the order of time. A thread keeps at most
 * SP_MEMORY_SAMPLES_MAX of them. When the list is full, every second sample is dropped, and from
 * then on half as many are taken.
 */
#ifndef STAGEPROF_ANALYZER_MEMORY_SAMPLES_H
#define STAGEPROF_ANALYZER_MEMORY_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#define SP_MEMORY_SAMPLES_MAX 65536u /* even */

struct sp_memory_sample {
	uint64_t ticks, bytes;
};

/* The samples of one thread; zeros: none. */
struct sp_memory_samples {
	struct sp_memory_sample *list;
	uint32_t count, room;
	uint32_t every, passed; /* one sample in `every` is kept; `passed`: dropped since the last
				   kept one */
	uint64_t max_bytes;	/* of all samples, kept or not */
};

/* Drops the sample where there is no memory for it. */
void sp_memory_put(struct sp_memory_samples *resident, uint64_t ticks, uint64_t bytes);
void sp_memory_finish(struct sp_memory_samples *resident);

#endif
