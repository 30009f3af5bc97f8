/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time that GPUs were busy: the union of intervals that come nearly in the order in which
 * they began.
 */
#ifndef STAGEPROF_ANALYZER_GPU_BUSY_H
#define STAGEPROF_ANALYZER_GPU_BUSY_H

#include <stdint.h>

#include "analyzer/base/intervals.h"

/* An interval that comes after so many of later begin may be counted too short. */
#define SP_GPU_BUSY_ROOM 16384u

struct sp_gpu_interval {
	int64_t start_ns, end_ns;
};

/* One device of one process; made by sp_gpu_busy_init(). */
struct sp_gpu_busy {
	struct sp_gpu_interval *list; /* not counted yet */
	uint32_t count;
	int64_t first_ns, last_ns; /* of all intervals; first > last: none came */
	struct sp_cover all, inside;
	uint64_t window_ns; /* the length of what `inside` counts in */
};

/* from_ns, to_ns: the window of `inside`. */
void sp_gpu_busy_init(struct sp_gpu_busy *busy, int64_t from_ns, int64_t to_ns);

/* Returns 0 or -ENOMEM. */
int sp_gpu_busy_add(struct sp_gpu_busy *busy, int64_t start_ns, int64_t end_ns);

/* Call it after the last interval: it completes the sums and frees the list. */
void sp_gpu_busy_finalize(struct sp_gpu_busy *busy);

#endif
