/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the memory of a process grows with the batches that it makes: sums for two straight lines.
 * They commute, so the order of the reports is of no matter.
 */
#ifndef STAGEPROF_ANALYZER_MEMORY_GROWTH_H
#define STAGEPROF_ANALYZER_MEMORY_GROWTH_H

#include <stdint.h>

#include "trace/format.h"

struct sp_memory_growth {
	uint32_t reports;
	double batches, batches2;	     /* sums of the number and of its square */
	double dirty, dirty_batches, dirty2; /* of bytes that the process alone has, written */
	double resident, resident_batches;
	struct sp_memory_metadata first, last; /* by `batches` */
	uint64_t shm_bytes, shm_free_least;    /* UINT64_MAX: not known */
};

enum sp_memory_kind {
	SP_MEMORY_UNKNOWN, /* too few reports, or growth that is no line */
	SP_MEMORY_STEADY,
	SP_MEMORY_COPY_ON_WRITE, /* pages that were the parent's become its own */
	SP_MEMORY_LEAK,		 /* it holds more and more */
};

void sp_memory_growth_add(struct sp_memory_growth *growth, const struct sp_memory_metadata *report);

/* Bytes that a batch adds to what the process alone has; 0 where it is steady or not known. */
double sp_memory_growth_a_batch(const struct sp_memory_growth *growth);

enum sp_memory_kind sp_memory_growth_kind(const struct sp_memory_growth *growth);

#endif
